// Which of a profile's metrics are counters that the user chose, and which the same in regions.
// Contract: thread-safe (no state); allocates names only; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// How many counters were chosen: behind the catalogue's metrics come so many, and then the same in regions. Files of programs that knew
/// no counters of regions have the first alone.
std::size_t chosen_counters(const std::vector<MetricInfo>& metrics);

/// The metric that has the counter `metric` in regions, wherever it stands (profiles of several jobs may be one); or 0.
std::size_t in_regions(const std::vector<MetricInfo>& metrics, std::size_t metric);

/// The counters of a rank's process, as ThreadAffinity::counters and TracedCount::counter number them; empty if they are not known.
std::vector<std::string> counter_names(const Profile& profile, std::uint32_t rank);

/// Empty if it has none, or the profile does not know the counter.
std::string counter_unit(const Profile& profile, const std::string& name);

/// When the interval or run that a counter was read for began and ended.
std::pair<std::uint64_t, std::uint64_t> times_of(const KeptEvents& events, const TracedCount& count);

} // namespace libprofile::tools
