// Which rows of the metric tree the value of a cell counts for.
// Contract: const after construction and then thread-safe; keeps a reference to the profile; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/totals.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Some rows of metric_rows, and the cells that belong to them: a row counts what its descendants count.
class CellRows {
  public:
    /// @param rows indices into metric_rows
    CellRows(const Profile& profile, const std::vector<std::size_t>& rows);

    /// Positions in `rows` that a cell with this call path and metric counts for.
    const std::vector<std::uint32_t>& of(std::uint32_t path, std::uint32_t metric) const { return contributes_[row_of(path, metric)]; }

  private:
    /// The row of metric_rows that the cell is booked under, whose ancestors have it, too.
    std::size_t row_of(std::uint32_t path, std::uint32_t metric) const;

    const Profile& profile_;
    std::vector<std::vector<std::uint32_t>> contributes_; // by row of metric_rows
    std::size_t direct_[metric_count] = {};
};

} // namespace libprofile::tools
