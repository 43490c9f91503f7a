// One named phase of one thread, and the interval of it that is running.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/clustering/clusterer.hpp"
#include "libprofile/clustering/time_series.hpp"
#include "libprofile/metrics/accumulator.hpp"
#include "libprofile/phases/inside_log.hpp"
#include "libprofile/phases/wall_times.hpp"

#include <cstdint>

namespace libprofile {

struct Phase {
    const char* name = "";
    std::uint64_t hash = 0; // of kind and name
    PhaseKind kind = PhaseKind::Outside;
    std::uint32_t number = 0; // among the thread's phases
    bool open = false;
    std::uint64_t instances = 0;
    std::uint64_t wall_ns = 0;           // exclusive, of closed segments
    std::uint64_t wall_inclusive_ns = 0; // of closed instances
    std::uint64_t opened_at = 0;

    // The running interval: since the iteration began, or since the thread began. Segments in which the phase was the
    // innermost one are added up here and turned into call-path times by close_interval().
    Accumulator rows;
    std::uint64_t outside_events_ns = 0; // wall time outside events and outside libprofile
    std::uint64_t compute_cpu_ns = 0;    // thread CPU time in the same stretches, may be more than that by clock skew

    std::uint64_t counted[most_counters] = {}; // of counters, in the same stretches, but for what samples and long calls have

    Clusterer* clusterer = nullptr; // Iterations only
    TimeSeries* series = nullptr;   // Iterations only
    // Values of iterations for which there was no memory are in the rows, so these are not those of one iteration.
    bool has_leftovers = false;
    WallTimes iteration_walls;

    InsideLog inside;                 // Iterations only
    InsideLink* inner = nullptr;      // phases that were entered in its iterations
    InsideLink* entered_in = nullptr; // while it is open: what it is in the iteration around it
};

} // namespace libprofile
