// Which waits of threads are one barrier, and which tasks it waits for.
// Contract: plain data; made in n log n; allocates its results; throws std::bad_alloc only.
//
// Nobody leaves a barrier before the last thread has come, so all waits of a barrier have that moment in common. A barrier waits for all tasks of its region
// that were created before the first thread leaves it.
#pragma once

#include "tools/timeline/task_pieces.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct TaskBarriers {
    struct Barrier {
        std::uint32_t region = TaskRecords::none;
        std::uint64_t release_ns = 0; // the first thread leaves it
    };
    std::vector<Barrier> barriers;      // by region, then time
    std::vector<std::uint32_t> of_wait; // by TaskRecords::waits: its barrier, or none

    /// The first barrier of the region that waits for a task of this time, or none.
    std::uint32_t after(std::uint32_t region, std::uint64_t created_ns) const;
};

TaskBarriers task_barriers(const TaskRecords& records, const TaskPieces& pieces);

} // namespace libprofile::tools
