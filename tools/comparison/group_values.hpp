// Values of two groups of runs by row, and how they differ.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/interval.hpp"
#include "tools/comparison/run.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// By run, then row: means over ranks.
using GroupValues = std::vector<std::vector<RunValue>>;

/// @param row_of by node: its row, or no_row
/// @param rows their number; 0 in all of a run without the metric
GroupValues values_of(const RunGroup& group, std::string_view metric, std::span<const std::uint32_t> row_of, std::size_t rows);

Change change_of(const GroupValues& before, const GroupValues& after, std::size_t row);

} // namespace libprofile::tools
