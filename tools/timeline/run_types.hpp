// Types of the tasks of events that were left in their files, by what runs: where a task was created, which the other tools tell types apart by, too, is not
// looked for. LLVM's runtime does not tell what runs; there it is where the task was created.
// Contract: plain data; made from the indexes alone; throws std::bad_alloc only.
#pragma once

#include "tools/timeline/row_window.hpp"
#include "tools/timeline/task_types.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct RunTypes {
    std::vector<TaskPlace> types;                    // that with most time first
    std::vector<std::vector<std::uint32_t>> of_path; // by location, then position in RowIndex::run_paths

    RunTypes(const Profile& profile, const IndexedRows& rows);
    /// The first `most` types, then all others together.
    std::vector<TaskClasses> classes(std::size_t most) const;
};

} // namespace libprofile::tools
