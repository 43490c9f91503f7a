// The graph of the OpenMP tasks of a rank (LIBPROFILE_TRACE=events): which task waits for which, how many could run at once, work and span.
// Contract: plain data, positions in it are below the sizes of its lists; made in n log n, whatever the profile says; allocates in proportion to the
// events; throws std::bad_alloc only.
//
// Tasks are cut into pieces (task_pieces.hpp). A piece comes after the one before it in its task, the first one of a task after its creation and after the
// tasks that it depends on, the one after a taskwait after all children, after a taskgroup all tasks made in it, after a barrier all tasks of the region
// and all threads of the team. Parallel regions come one after the other.
// Sources: work and span: R. Blumofe, C. Leiserson, "Scheduling Multithreaded Computations by Work Stealing", J. ACM 46 (1999); Y. He, C. Leiserson,
// W. Leiserson, "The Cilkview Scalability Analyzer", SPAA 2010. Depth: A. Drebes, A. Pop, K. Heydemann, A. Cohen, "Interactive Visualization of Cross-Layer
// Performance Anomalies in Dynamic Task-Parallel Applications and Systems", ISPASS 2016; theirs has dependences only, here creations and waits count, too.
#pragma once

#include "tools/timeline/task_parts.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct TaskGraph {
    static constexpr std::uint32_t none = UINT32_MAX;

    struct Run {
        std::uint64_t begin_ns = 0, end_ns = 0;
        std::uint32_t location = 0; // position in Profile::locations
        std::uint32_t path = 0;     // of the function that ran; if that is not known, of the creation
        std::uint16_t processor = no_processor;
    };
    /// An explicit task whose creation is there.
    struct Task {
        std::uint64_t number = 0;
        std::uint32_t creator = none; // position in `tasks`; none: an implicit task, or one that is not there
        std::uint32_t location = 0;   // of its creation
        std::uint32_t path = 0;       // of its creation
        std::uint8_t flags = 0;       // TaskFlag
        bool is_complete = false;     // it ran, and all of it is there; else it counts in no sum
        bool is_stolen = false;       // begun by another thread than the one that created it
        std::uint32_t depth = none;   // edges of the longest path to it; none: what was recorded contradicts itself
        std::uint32_t runs_at = 0, runs = 0;
        std::uint64_t created_ns = 0;
        std::uint64_t ready_ns = 0; // created, and all that it depends on is over
        std::uint64_t begin_ns = 0, end_ns = 0;
        std::uint64_t duration_ns = 0;                // own time
        std::span<const TracedDependence> accesses;   // its depend clauses; valid as long as the profile
        std::uint32_t after = none, joined_by = none; // the last join before its creation, and the one that waited for it: numbers without other meaning
    };
    /// How many tasks have a depth: those could run at once if all tasks took the same time.
    struct Depth {
        std::uint64_t tasks = 0;
        std::uint64_t ns = 0; // the sum of their durations
    };
    /// A piece of a task on the critical path.
    struct Step {
        std::uint32_t task = none;     // none: an implicit task
        std::uint32_t location = none; // of the implicit task
        std::uint32_t piece = 0;       // its number in its task, from 0
        std::uint32_t path = 0;        // call path
        std::uint64_t ns = 0;
    };

    std::vector<Task> tasks; // in the order of creation
    std::vector<Run> runs;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> dependences; // from and to: positions in `tasks`, then junctions of many with many
    std::vector<Depth> depths;
    std::vector<Step> critical_path;      // in the order of execution, those that took time
    std::vector<std::uint32_t> locations; // threads that created or ran tasks, or were in a region with tasks

    std::uint64_t complete_tasks = 0, stolen_tasks = 0;
    std::uint64_t regions = 0;     // with tasks
    std::uint64_t work_ns = 0;     // own time of all complete tasks, and of implicit tasks
    std::uint64_t implicit_ns = 0; // of this: of implicit tasks
    std::uint64_t span_ns = 0;     // of the longest path
    double parallelism() const { return span_ns == 0 ? 0 : static_cast<double>(work_ns) / static_cast<double>(span_ns); }

    // What is not there, and counts in none of these.
    std::uint64_t not_run = 0;           // tasks that were created and did not run
    std::uint64_t partly_run = 0;        // tasks of which a run is missing, or a part of it
    std::uint64_t contradictory = 0;     // tasks that would wait for themselves
    std::uint64_t created_elsewhere = 0; // tasks that ran here
    std::uint64_t repeated = 0;          // creations with the number of another task
    std::uint64_t backward = 0;          // events that end before they begin
    // And these count, with less known of them.
    std::uint64_t of_unknown_creators = 0;
    std::uint64_t outside_regions = 0; // tasks: their parallel region is not there, so the time of its implicit tasks is not known

    std::uint64_t incomplete() const { return tasks.size() - complete_tasks; }
};

/// @param parts of one rank
TaskGraph task_graph(const Profile& profile, std::span<const TaskPart> parts);

} // namespace libprofile::tools
