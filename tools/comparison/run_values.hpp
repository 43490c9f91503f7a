// Sums of a run's metric over groups of nodes, place by place, with the error that samples leave.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/interval.hpp"
#include "tools/comparison/run.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace libprofile::tools {

inline constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

/// Rows x ranks.
struct RankValues {
    std::size_t ranks = 0;
    std::vector<RunValue> values; // by row, then rank; errors are those of the rank's sum over threads

    const RunValue& at(std::size_t row, std::size_t rank) const { return values[row * ranks + rank]; }
    /// The mean over some ranks, given by their positions; empty: over all.
    RunValue mean(std::size_t row, std::span<const std::uint32_t> some = {}) const;
};

/// @param column of run.frame
/// @param row_of by node of the frame: its row, or no_row
/// @param rows their number
RankValues values_by_rank(const Run& run, const FrameColumn& column, std::span<const std::uint32_t> row_of, std::size_t rows);

/// Means over ranks by row, without keeping those of each rank.
std::vector<RunValue> mean_values(const Run& run, const FrameColumn& column, std::span<const std::uint32_t> row_of, std::size_t rows);

} // namespace libprofile::tools
