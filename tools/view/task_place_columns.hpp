// On which NUMA nodes the tasks of the page ran, and on which the data lie that they depend on, as columns beside those of tasks (task_columns.hpp).
// Contract: one thread; allocates in proportion to the dependences; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeline/task_places.hpp"
#include "tools/view/named_columns.hpp"

#include <cstdint>
#include <span>

namespace libprofile::tools {

class TaskPlaceColumns {
  public:
    /// Adds the lists "task_nodes" and "data_nodes" to the columns, unless no rank knows where pages lie.
    TaskPlaceColumns(const Profile& profile, NamedColumns& columns);

    /// The next task of the page. @param node that it ran on, or TaskPlaces::unknown
    void add(const RankInfo& rank, std::uint32_t node, std::span<const TracedDependence> dependences);

  private:
    NumberColumn *tasks_ = nullptr, *data_ = nullptr; // node + 1; 0: not known
};

} // namespace libprofile::tools
