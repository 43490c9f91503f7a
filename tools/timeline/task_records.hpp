// What the threads of a rank recorded of tasks in chosen parts, as flat lists of which each element knows its thread and its task.
// Contract: plain data, valid as long as the profile; made in n log n; allocates in proportion to the events; throws std::bad_alloc only. Times of a
// profile may contradict each other: what ends before it begins is left out and counted.
#pragma once

#include "tools/timeline/task_parts.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct TaskRecords {
    static constexpr std::uint32_t none = UINT32_MAX;

    /// Time of a thread that lies in no chosen part.
    struct Hole {
        std::uint64_t begin_ns = 0, end_ns = 0;
    };
    struct Thread {
        std::uint32_t location = 0; // position in Profile::locations
        std::vector<Hole> holes;    // in the order of time
    };
    struct Task {
        std::uint64_t number = 0;
        std::uint64_t creator = 0; // number; 0: the implicit task of `thread`
        std::uint64_t created_ns = 0;
        std::uint32_t thread = 0; // that created it
        std::uint32_t path = 0;
        std::uint8_t flags = 0; // TaskFlag
        std::span<const TracedDependence> dependences;
    };
    struct Run {
        std::uint64_t begin_ns = 0, end_ns = 0;
        std::uint32_t task = none; // position in `tasks`; none: it was created elsewhere
        std::uint32_t thread = 0;
        std::uint32_t path = 0; // of the function that runs; if that is not known, of the creation
        bool is_over = false, is_resumed = false;
        bool is_cut = false; // a part of it lies in a hole
        std::uint16_t processor = no_processor;
    };
    enum class WaitKind : std::uint8_t { Taskwait, Taskgroup, Barrier, Idle };
    struct Wait {
        std::uint64_t begin_ns = 0, end_ns = 0;
        std::uint32_t thread = 0;
        WaitKind kind = WaitKind::Taskwait;
    };
    struct Group {
        std::uint64_t begin_ns = 0, end_ns = 0;
        std::uint32_t thread = 0;
        std::uint64_t task = 0; // number; 0: the implicit task of the thread
    };
    /// A parallel region that lies in no other one. Those inside count as a part of it.
    struct Region {
        std::uint64_t begin_ns = 0, end_ns = 0;
        std::uint32_t thread = 0; // of the master
        std::uint32_t path = 0;
    };

    std::vector<Thread> threads;
    std::vector<Task> tasks; // in the order of creation
    std::vector<Run> runs;   // by task, then begin; those of unknown tasks last
    std::vector<Wait> waits;
    std::vector<Group> groups;
    std::vector<Region> regions;               // in which tasks were created; in the order of time, without overlap
    std::uint64_t repeated = 0;                // creations with the number of another task
    std::uint64_t backward = 0;                // events that end before they begin
    std::uint64_t tasks_created_elsewhere = 0; // that ran here

    /// Position in `tasks`, or none.
    std::uint32_t task_of(std::uint64_t number) const;
    /// Whether runs from one position up to another one are all of a task.
    bool is_whole(std::size_t first, std::size_t end) const;
    /// Position in `regions`, or none.
    std::uint32_t region_at(std::uint64_t time_ns) const;

    std::vector<std::pair<std::uint64_t, std::uint32_t>> by_number; // number and position, sorted
};

TaskRecords task_records(const Profile& profile, std::span<const TaskPart> parts);

} // namespace libprofile::tools
