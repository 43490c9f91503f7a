// Which tasks wait for which others by their depend clauses.
// Contract: thread-safe (no state); n log n, and at most two edges for each dependence; allocates its results; throws std::bad_alloc only.
//
// OpenMP 5.1, 2.19.11: dependences are between tasks that the same task created, in the order of their creation, if they name the same address. `in` waits
// for the last others; `out` and `inout` for all before; `mutexinoutset` and `inoutset` for all before but those of their own kind. So the tasks that name
// an address are generations, each of which waits for the one before. Between two generations of several tasks there is a junction instead of all pairs.
#pragma once

#include "tools/timeline/task_records.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct TaskDependences {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges; // from and to: positions of tasks, then junctions; without repetitions
    std::uint32_t junctions = 0;
};

/// @param siblings by task: a number that those of the same creator have in common
TaskDependences task_dependences(const TaskRecords& records, std::span<const std::uint64_t> siblings);

} // namespace libprofile::tools
