// On which NUMA nodes calls and stretches of tasks ended, as a column beside theirs (timeline_columns.hpp, task_columns.hpp).
// Contract: one thread; allocates in proportion to the events; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/named_columns.hpp"

#include <cstdint>

namespace libprofile::tools {

class RanOnColumn {
  public:
    /// Adds the column to the list "ran_on", unless no machine has several nodes. @param name a literal
    RanOnColumn(const Profile& profile, NamedColumns& columns, const char* name);

    /// The next event of the page.
    void add(std::uint32_t rank, std::uint16_t processor);

  private:
    const Profile& profile_;
    NumberColumn* nodes_ = nullptr; // node + 1; 0: not known
};

} // namespace libprofile::tools
