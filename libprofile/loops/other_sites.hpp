// A found loop's function enters a call site that no pass has entered before. That may be a branch taken late, code after the loop, or a loop
// around it.
// Contract: on the thread of the loop, with its in-tool flag set; async-signal-safe. Reads the code of the function once for each such call site,
// which takes a few tenths of a millisecond.
#pragma once

#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

/// `site`, which is none of the loop's, is entered; `before`: its entries until now. A site around the loop is watched, one in another loop of the
/// function is left alone, any other becomes one of the loop's. Returns the entries that show a loop around it, nullptr if there is none.
const Entries* enter_other_site(const CallTree& tree, Loop& loop, NodeId site, const Entries& before, std::uint64_t at,
                                const FunctionTraits& functions) noexcept;

/// Makes the loop around `inner` that was shown by the entries of a call site; each of its passes enters that site.
Loop loop_around(const CallTree& tree, const Loop& inner, const Entries& entries, const FunctionTraits& functions) noexcept;

} // namespace libprofile
