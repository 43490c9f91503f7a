// All that traces say of a run: clusters of ranks, segments with losses, loops with their iterations, and what they cannot say.
// Contract: uses several threads; the result does not depend on how many; throws std::bad_alloc only. The profile must outlive the result.
//
// Source: Wei and Mellor-Crummey (ICS 2018), sections 3 and 4; Tables 4 and 7 for the iterations.
// Decisions:
// - Main threads only: what a worker waits for between regions is no imbalance of ranks.
// - A profile does not have when its iterations began, so iterations come from the samples alone. The numbers that the profile knows are put beside them.
// - A phase belongs to the loop in which the call paths of its samples part: for a found loop, the innermost around the call site where a pass begins.
#pragma once

#include "tools/timeseries/binary_loops.hpp"
#include "tools/timeseries/job_series.hpp"
#include "tools/timeseries/segments.hpp"

#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A significant call path.
struct LostPath {
    ContextId context = 0;
    NodeClass node_class = NodeClass::Computation;
    bool by_imbalance = false, by_waiting = false;
    double imb = 0, wait = 0; // ns
    /// Of an imbalance: that take longest in it over the whole run; of a synchronisation, that wait least in it. In order.
    std::vector<std::uint32_t> ranks;
};

/// A segment with plain numbers in it (segments.hpp).
struct LostSegment {
    SegmentSign sign = SegmentSign::None;
    double imb = 0, sum_imb = 0, sum_wait = 0; // ns
    bool has_synchronisation = false;          // the last of the paths is one
    std::vector<LostPath> paths;               // in the order of time
};

struct AnalysedLoop {
    LoopTotals totals;
    std::optional<std::uint64_t> actual; // iterations on these threads, as the profile knows them
};

struct TraceAnalysis {
    JobSeries series;
    double run_ns = 0; // of the longest thread; shares are of this
    std::vector<LostSegment> segments;
    std::vector<AnalysedLoop> loops;      // with most time first
    std::uint64_t stride = 1;             // the largest: every so manyth sample is there
    std::uint64_t other_threads = 0;      // with traces, that were not looked at
    std::uint64_t unknown_loop_paths = 0; // samples on call paths with a function whose loops are not known
    std::uint32_t unknown_path = 0;       // of such a function: that with most samples
    TimeSeriesParameters parameters = {}; // that all this was found with
};

/// Whether there is a trace.
bool has_trace(const Profile& profile);

TraceAnalysis analyse_trace(const Profile& profile, const BinaryLoops& loops, const TimeSeriesParameters& parameters = {});

} // namespace libprofile::tools
