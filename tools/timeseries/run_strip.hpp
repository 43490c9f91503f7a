// The run as a strip: at each of some points in time, the context that a thread spends most time in. And the exact time of each context.
// Contract: thread-safe (no state); trees of threads are made one after another, so that one is in memory at a time; the result is bounded by
// `points` for each thread. Throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), Figures 12 and 13 show such strips.
// Decisions:
// - Times are on the axis of all ranks. What a context takes is on the thread's own clock.
// - At each point the way goes from the root to the child with most time there, as long as that is more than the node's own. So the strip of any
//   depth is that of the innermost contexts, seen from further out.
// - A cluster is at each point where most of its members are, by the same rule.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/timeseries/job_series.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

inline constexpr ContextId not_running = 0xffffffff; // before the first and after the last sample

struct StripSpan {
    ContextId context = not_running;
    std::uint32_t points = 0; // so many in a row
    bool operator==(const StripSpan&) const = default;
};

struct RunStrip {
    double point_ns = 0;
    std::uint32_t points = 0;                     // of each row
    std::vector<std::vector<StripSpan>> threads;  // by JobSeries::threads
    std::vector<std::vector<StripSpan>> clusters; // by JobSeries::clusters
    std::vector<double> begin, end;               // by thread: ns on the axis
    std::vector<double> ns;                       // by context: of all threads, with what lies inside
};

/// @param points of a row, at least 1
RunStrip run_strip(const JobSeries& series, const ClockAxis& axis, const LoopSource* loops, std::uint32_t points, const TimeSeriesParameters& parameters = {});

} // namespace libprofile::tools
