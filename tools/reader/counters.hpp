// Which of a profile's metrics are counters that the user chose, and which the same in regions.
// Contract: thread-safe (no state); allocates nothing.
#pragma once

#include "tools/reader/model.hpp"

#include <cstddef>
#include <vector>

namespace libprofile::tools {

/// How many counters were chosen: behind the catalogue's metrics come so many, and then the same in regions. Files of programs that knew
/// no counters of regions have the first alone.
std::size_t chosen_counters(const std::vector<MetricInfo>& metrics);

/// The metric that has the counter `metric` in regions, wherever it stands (profiles of several jobs may be one); or 0.
std::size_t in_regions(const std::vector<MetricInfo>& metrics, std::size_t metric);

} // namespace libprofile::tools
