// What it means for a found loop that its function enters a call site that no pass has entered before: a branch that is first taken late, what comes
// behind the loop, or a loop around it.
// Contract: on the thread of the loop, with its in-tool flag set; async-signal-safe; the code of the function is read: some tenths of a millisecond,
// once for each such call site.
#pragma once

#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

/// `site`, which is none of the loop's, is entered. It becomes one of its call sites, since it belongs to the loop if that goes on, or it is watched
/// because it lies around it; `before`: its entries until now. Returns the entries by which a loop around has shown; nullptr: none has.
const Entries* enter_other_site(const CallTree& tree, Loop& loop, NodeId site, const Entries& before, std::uint64_t at,
                                const FunctionTraits& functions) noexcept;

/// The loop around `inner` that shows by the entries of a call site, which each pass of it enters.
Loop loop_around(const CallTree& tree, const Loop& inner, const Entries& entries, const FunctionTraits& functions) noexcept;

} // namespace libprofile
