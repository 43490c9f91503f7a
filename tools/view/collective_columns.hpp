// The collective operations of the calls in the page as columns: which one of its communicator, and which rank came last.
// Contract: one thread; n log n; allocates in proportion to the calls; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/timeline/collective_operations.hpp"
#include "tools/view/timeline_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace libprofile::tools {

class CollectiveColumns {
  public:
    /// Adds the list "collectives" to the columns; none if there are no operations. @param events has the calls' places in the page
    CollectiveColumns(const Profile& profile, const ClockAxis& axis, const TimelineColumns& events, NamedColumns& columns);

    /// By location.
    const std::vector<std::size_t>& counts() const { return counts_; }
    /// Names and sizes (0: not known) of communicators.
    const nlohmann::ordered_json& communicators() const { return communicators_; }

  private:
    std::vector<std::size_t> counts_;
    nlohmann::ordered_json communicators_ = nlohmann::ordered_json::array();
};

} // namespace libprofile::tools
