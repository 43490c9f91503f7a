// One named phase of one thread, and the interval of it that is running.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/clustering/clusterer.hpp"
#include "libprofile/clustering/time_series.hpp"
#include "libprofile/metrics/accumulator.hpp"
#include "libprofile/order/iteration_order.hpp"
#include "libprofile/phases/begin_times.hpp"
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
    struct {
        std::uint64_t wall_ns = 0;                 // outside events and outside libprofile
        std::uint64_t cpu_ns = 0;                  // thread CPU time in the same stretches, may be more than that by clock skew
        std::uint64_t away_ns = 0;                 // of wall_ns: off the processor, and in the rows already
        std::uint64_t sampled_ns = 0;              // what the samples of the interval stand for; it is in the times of their call paths
        std::uint64_t counted[most_counters] = {}; // of counters, too, but for what samples and long calls have
    } outside;
    std::uint64_t compute_ns() const {
        const std::uint64_t most = not_away_ns();
        return outside.cpu_ns < most ? outside.cpu_ns : most;
    }
    /// Off the processor where nobody knows.
    std::uint64_t off_cpu_ns() const { return not_away_ns() - compute_ns(); }
    /// Passes that are cut out of the log later may get more absence than they have time.
    std::uint64_t not_away_ns() const { return outside.wall_ns > outside.away_ns ? outside.wall_ns - outside.away_ns : 0; }
    /// Turns the interval's CPU and wall time outside events into times of call paths. A sample stands for time before it, which may belong to
    /// earlier intervals. So "(not sampled)" gets the computing time less what the samples stand for, modulo 2^64: sums over call paths are
    /// exact, and readers of the profile share the computing time out by the samples (docs/format.md).
    void close_interval(CallTree& tree, Arena& arena) noexcept;

    Clusterer* clusterer = nullptr; // Iterations only
    TimeSeries* series = nullptr;   // Iterations only
    // The rows also hold values of iterations for which memory was short, so they are not those of one iteration.
    bool has_leftovers = false;
    WallTimes iteration_walls;
    BeginTimes begins;

    PhaseOrder* order = nullptr; // Iterations only, with LIBPROFILE_ORDER

    InsideLog inside; // Iterations only
    InsideLog::Inner inner() const {
        return {number, kind == PhaseKind::Iterations, kind == PhaseKind::Iterations ? iteration_walls.size() : instances, wall_ns};
    }
};

} // namespace libprofile
