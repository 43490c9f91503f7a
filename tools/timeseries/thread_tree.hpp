// The temporal context tree of one thread, from its trace.
// Contract: thread-safe: contexts were made for all samples before. Allocates in proportion to the samples; throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 3.
// Decisions:
// - A sample stands for the time from the middle between it and the one before to the middle between it and the next. A wait has its begin and end;
//   what is between it and a sample not farther away than two periods belongs to the sample.
// - Between samples more than two periods apart the thread was away: each keeps half a period, the rest belongs to their common ancestor.
// - The period is the median of the times between samples without a whole wait in between, so it has the stride of a thinned trace in it.
// - Two samples in a row in one call of MPI from one place are taken for one call, if they are not in a wait. A wait is one call.
// - If a common ancestor is not known, all that is equal on both call paths is taken to go on; if only a bound is known, that is taken for it.
#pragma once

#include "tools/timeseries/clustering.hpp"
#include "tools/timeseries/known_loops.hpp"
#include "tools/timeseries/loop_iterations.hpp"

#include <vector>

namespace libprofile::tools {

/// A loop that ran once on a thread, and what became of its iterations.
struct LoopRun {
    ContextId context = 0;
    double begin = 0;
    double duration = 0;
    IdentifiedIterations found;
};

struct ThreadTree {
    TimeNode root;
    double begin = 0;           // of the root, ns on the clock of the rank
    std::vector<LoopRun> loops; // in the order of their ends
};

/// The time between two samples, in ns. 0 if there are fewer than two.
double sampling_period(const Trace& trace);

/// How loops appear in the tree.
enum class LoopForm : std::uint8_t { Children, Iterations, Clusters };

ThreadTree thread_tree(const Trace& trace, const Contexts& contexts, const KnownLoops& known, const FlowOrder& order, const TimeSeriesParameters& parameters,
                       LoopForm form = LoopForm::Clusters);

} // namespace libprofile::tools
