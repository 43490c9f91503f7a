// Gives each event cell of a phase, (node, metric), its column in the coded series, in the order of appearance.
// Contract: belongs to one thread; memory from its pool; nothing throws; O(1) a look-up.
#pragma once

#include "format/series_code.hpp"
#include "libprofile/session/memory.hpp"

#include <cstdint>

namespace libprofile {

class EventColumns {
  public:
    const SeriesColumns& columns() const { return columns_; }
    std::size_t memory() const { return std::size_t{capacity_} * bytes_per_column + std::size_t{room_} * sizeof(Slot); }

    /// The column of a cell, among the counts or among the times; SeriesColumns::none: it is new, and there is no memory. A
    /// node's visits should be asked for before its time.
    std::uint32_t find_or_add(std::uint32_t key, Pool& pool) noexcept;

  private:
    static constexpr std::size_t bytes_per_column = 3 * sizeof(std::uint32_t);
    struct Slot {
        std::uint32_t key; // + 1; 0: free
        std::uint32_t column;
    };
    Slot* slot_of(std::uint32_t key) const noexcept {
        std::uint32_t at = (key * 0x9e3779b1u) >> shift_;
        while (slots_[at].key != 0 && slots_[at].key != key + 1) at = (at + 1) & (room_ - 1);
        return &slots_[at];
    }
    bool reserve(Pool& pool) noexcept;

    SeriesColumns columns_;
    std::uint32_t capacity_ = 0; // of each of the arrays
    Slot* slots_ = nullptr;
    std::uint32_t room_ = 0; // a power of two
    unsigned shift_ = 32;
};

} // namespace libprofile
