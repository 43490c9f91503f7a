// Gives each event cell of a phase, (node, metric), its column in the coded series, in the order of appearance.
// Contract: belongs to one thread; memory from its pool; nothing throws. Cells come sorted, so one pass over the columns in the order of their
// keys finds those of a whole iteration.
#pragma once

#include "format/series_code.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/clustering/iteration_profile.hpp"

#include <cstdint>

namespace libprofile {

class EventColumns {
  public:
    const SeriesColumns& columns() const { return columns_; }
    std::size_t memory() const { return std::size_t{capacity_} * bytes_per_column; }

    /// Finds the column of each cell; columns of times follow all others. Cells are sorted by key. Returns false if memory for new columns is
    /// short. The first `guessed` elements of `found` hold the result for earlier cells, which is usually the same.
    bool find_or_add(const Cell* cells, std::uint32_t count, std::uint32_t* found, std::uint32_t guessed, Pool& pool) noexcept;

    static bool is_time(std::uint32_t key) { return (key & ((1u << Cell::metric_bits) - 1)) == static_cast<std::uint32_t>(Metric::Time); }

  private:
    static constexpr std::size_t bytes_per_column = 4 * sizeof(std::uint32_t);
    static constexpr std::uint32_t time_flag = 0x80000000u;

    std::uint32_t key_of(std::uint32_t entry) const {
        return (entry & time_flag) != 0 ? columns_.time_nodes[entry & ~time_flag] << Cell::metric_bits : columns_.count_keys[entry];
    }
    std::uint32_t used() const { return columns_.counts + columns_.times; }
    bool holds(std::uint32_t at, std::uint32_t key) const { return at < used() && key_of(order_[at]) == key; }
    std::uint32_t index_of(std::uint32_t key) const noexcept;
    std::uint32_t add(std::uint32_t key) noexcept;
    bool reserve_one(Pool& pool) noexcept;
    bool add_missing(const Cell* cells, std::uint32_t count, Pool& pool) noexcept;
    bool are_guessed(const Cell* cells, std::uint32_t count, const std::uint32_t* found) const noexcept;
    std::uint32_t pass(const Cell* cells, std::uint32_t count, std::uint32_t* found) const noexcept;

    SeriesColumns columns_;
    std::uint32_t* order_ = nullptr; // all columns by key; times have the flag
    std::uint32_t capacity_ = 0;     // of each of the arrays
};

} // namespace libprofile
