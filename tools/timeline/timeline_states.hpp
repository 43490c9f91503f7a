// The states of a thread in the timeline: computing, or the kind of call that it is in.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/totals.hpp"
#include "tools/reader/model.hpp"

#include <array>
#include <cstdint>

namespace libprofile::tools {

enum class TimelineState : std::uint8_t {
    Computing, // and all else that is no call: waiting for a processor, libprofile
    PointToPoint,
    Collective,
    OneSided,
    Synchronization,
    FileIo,
    InitExit,
    OtherMpi,
    OpenMp, // other
    OmpBarrier,
    OmpIdle,
    OmpLock,
    OmpTaskWait,
    Task, // executes a task of OpenMP: no interval has it
    Count,
    Region = Count // a named region, instrumented function or parallel region: lies over the states
};

inline constexpr std::size_t timeline_state_count = static_cast<std::size_t>(TimelineState::Count);

struct TimelineStateName {
    const char* key;
    const char* name;
};
inline constexpr std::array<TimelineStateName, timeline_state_count> timeline_state_names = {{{"computing", "computing"},
                                                                                              {"point_to_point", "MPI point-to-point"},
                                                                                              {"collective", "MPI collective"},
                                                                                              {"one_sided", "MPI one-sided"},
                                                                                              {"synchronization", "MPI synchronization"},
                                                                                              {"file_io", "MPI file I/O"},
                                                                                              {"init_exit", "MPI init/exit"},
                                                                                              {"other_mpi", "MPI, other"},
                                                                                              {"openmp", "OpenMP, other"},
                                                                                              {"omp_barrier", "OpenMP barrier"},
                                                                                              {"omp_idle", "OpenMP idle"},
                                                                                              {"omp_lock", "OpenMP lock"},
                                                                                              {"omp_task_wait", "OpenMP wait for tasks"},
                                                                                              {"task", "OpenMP task"}}};

/// What a thread is in while it is in an interval with this call path.
TimelineState timeline_state_of(const Profile& profile, const CallPath& path);

/// ns by state; that of computing is 0, as it is what is left of the time. Tasks are in it, too.
using TimelineSums = std::array<std::uint64_t, timeline_state_count>;

/// Adds the times of some values of metric_rows.
void add_calls(TimelineSums& sums, const MetricValues& values);

} // namespace libprofile::tools
