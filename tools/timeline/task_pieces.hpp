// Tasks cut into pieces: where they create others, wait for others, or stop running. A piece has the time that its task computed, and ends with its cut.
// Contract: plain data; made in n log n; allocates in proportion to the events; throws std::bad_alloc only.
//
// A task's own time is that of its runs, without other tasks that ran inside them, without its waits for tasks (taskwait, taskgroup, barrier, idle, an
// undeferred task), and without what lies in no chosen part. All other time of a thread in a region with tasks is its implicit task's.
#pragma once

#include "tools/timeline/task_records.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct TaskPieces {
    static constexpr std::uint32_t none = TaskRecords::none;

    enum class Cut : std::uint8_t {
        End,        // a run is over
        Creation,   // what: the task that was created
        Taskwait,   // its children are over
        Barrier,    // what: the wait
        GroupBegin, // what: the group
        GroupEnd    // what: the group
    };
    struct Piece {
        std::uint32_t task = none; // position in TaskRecords::tasks, then implicit tasks
        std::uint32_t what = none;
        Cut cut = Cut::End;
        std::uint32_t path = 0; // of the function that runs; where an implicit task creates another: of the creation
        std::uint64_t own_ns = 0;
        std::uint64_t end_ns = 0;
    };
    /// The implicit task of a thread in a region. Outside of all known regions a thread has one, without own time.
    struct Implicit {
        std::uint32_t thread = 0; // position in TaskRecords::threads
        std::uint32_t region = none;
    };

    std::vector<Piece> pieces;        // by task, then time; each task ends with a piece of the cut End
    std::vector<std::uint32_t> first; // by task: its first piece; and the number of all pieces
    std::vector<Implicit> implicits;
    std::vector<std::uint32_t> waiting; // by wait: the task that waits; none: not known
};

TaskPieces task_pieces(const TaskRecords& records);

} // namespace libprofile::tools
