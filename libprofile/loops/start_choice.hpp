// Chooses where the passes of a loop begin: an MPI call below the loop's function that comes once in every pass.
//
// Contract: on the thread of the events, with its in-tool flag set; scratch memory under the quota; integers only.
//
// A call that comes again before its function's caller has gone on is in an inner loop. The others are grouped by how often they come.
// Nested loops in one function look like one loop with an occasional event. The loops of its machine code tell these apart; if the code is not
// understood, the order of the call sites and their regularity do, as far as possible (docs/iterations.md). Within the chosen group, collective
// calls are preferred, since all ranks have them, then the first in the code. If the entries of a call site come more often than each such
// call, they begin the passes.
#pragma once

#include "libprofile/loops/event_list.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

/// Calls at which passes of other loops begin. They must not be chosen.
using ExcludedCalls = NodeList<16>;

/// Chooses from the `events` during `candidate`. Returns false if memory is short, or if they tell nothing or too few passes of the loop.
bool choose_start(const EventList& events, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions, const ExcludedCalls& excluded,
                  Loop& loop) noexcept;

} // namespace libprofile
