// The counters that were read at the borders of events in the page, as columns: of each row and counter its readings in the order of time.
// Contract: one thread; n log n; allocates in proportion to the readings; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/named_columns.hpp"
#include "tools/view/timeline_parts.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

namespace libprofile::tools {

class CounterColumns {
  public:
    /// Adds the list "counts" to the columns; none if no counter was read. Values count from the row's first reading on.
    CounterColumns(const Profile& profile, const ChosenParts& parts, NamedColumns& columns);

    /// Readings by location.
    const std::vector<std::size_t>& counts() const { return counts_; }
    /// Names and units.
    const nlohmann::ordered_json& counters() const { return counters_; }

  private:
    std::vector<std::size_t> counts_;
    nlohmann::ordered_json counters_ = nlohmann::ordered_json::array();
};

} // namespace libprofile::tools
