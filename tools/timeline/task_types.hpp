// Tasks of the same code, and call paths of the critical path.
// Contract: thread-safe (no state); n log n; allocates its results; throws std::bad_alloc only. Names are as the profile has them, not made printable.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeline/task_graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Complete tasks whose function is the same, and the line that created them.
struct TaskType {
    std::string function; // that runs; if that is not known: that created them
    std::string source;   // "file:line" of the creation; empty if unknown
    std::uint64_t tasks = 0, stolen = 0;
    std::uint64_t sum_ns = 0, least_ns = 0, median_ns = 0, most_ns = 0; // own time
    std::uint64_t creation_to_begin_ns = 0;                             // median
    std::uint64_t ready_to_begin_ns = 0;                                // median: created, and all that it depends on is over
};

struct TaskTypes {
    std::vector<TaskType> types;        // the one with most time first; those without complete tasks last
    std::vector<std::uint32_t> of_task; // by TaskGraph::tasks: position in `types`
};
TaskTypes task_types(const Profile& profile, const TaskGraph& graph);

/// The innermost function of the program on a call path.
struct TaskPlace {
    std::string function; // "(no call path)" if there is none
    std::string source;   // "file:line"; empty if unknown
};
TaskPlace task_place(const Profile& profile, std::uint32_t path);
/// What tasks are called that run on one path (0: it is not known) and are created on another one.
TaskPlace task_type_name(const Profile& profile, std::uint32_t run_path, std::uint32_t creation_path);
/// The call path of the function itself, not of what the compiler inlined at its begin.
std::uint32_t function_around(const Profile& profile, std::uint32_t path);

/// The steps of the critical path that have the same call path.
struct CriticalPlace {
    std::uint32_t path = 0;
    bool is_implicit = false; // outside of explicit tasks: it creates them, or computes beside them
    std::uint64_t ns = 0;
    std::uint64_t steps = 0;
};
/// By time, longest first.
std::vector<CriticalPlace> critical_places(const TaskGraph& graph);

} // namespace libprofile::tools
