// Where a pass of a loop begins: of the MPI calls that are made below the loop's function, one that comes once in every pass.
//
// Contract: on the thread of the log, with its in-tool flag set; scratch memory under the quota; integers only.
//
// Calls that come again without their function's caller having gone on are in inner loops. The others are grouped by how often
// they come. Loops inside each other in one function look like one loop with something that happens every now and then; these are
// told apart by the loops of its machine code, or where that is not understood, as far as possible, by the order of the call sites and by how
// regular it is (docs/iterations.md). Of the calls of the group that was chosen, collective ones are preferred, since all ranks have
// them, then the first in the code. Where the entries of a call site come more often than each such call, these are the passes.
#pragma once

#include "libprofile/loops/event_log.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

/// Calls that must not be chosen: those at which passes of other loops begin.
using ExcludedCalls = NodeList<16>;

/// From the events in `log` during `candidate`. False: there is no memory for it, or the log knows nothing, or too few passes, of the loop.
bool choose_start(const EventLog& log, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions, const ExcludedCalls& excluded,
                  Loop& loop) noexcept;

} // namespace libprofile
