// Groups of cells whose sums an iteration's whole values tell: times by category, and each other metric by itself.
// Contract: thread-safe (no state); group_of and add_groups allocate nothing.
#pragma once

#include "tools/reader/model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

inline constexpr std::size_t category_groups = static_cast<std::size_t>(TimeCategory::Count);
inline constexpr std::size_t group_count = category_groups + metric_count - 1 + most_counter_metrics;

/// `group_count`: the whole values do not tell it.
std::size_t group_of(const Profile& profile, std::uint32_t path, std::uint32_t metric);

/// Adds a condensed vector by group: derive_catalogue backwards.
void add_groups(const std::vector<std::uint64_t>& condensed, std::uint64_t* groups);

} // namespace libprofile::tools
