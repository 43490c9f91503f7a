// The profile of one closed iteration, and of a cluster of them: non-zero cells sorted by (node, metric).
// Contract: belongs to one thread; memory comes from a Pool; nothing throws. Integer sums only.
// Source: Szebenyi, Wolf, Wylie (SC 2009), 4.1; a cluster keeps sums instead of means, so that totals stay exact (4.5).
#pragma once

#include "libprofile/metrics/accumulator.hpp"

#include <cstdint>

namespace libprofile {

struct Cell {
    std::uint32_t key; // node * 64 + metric
    std::uint64_t value;

    static constexpr std::uint32_t metric_bits = 6;
    static std::uint32_t make_key(NodeId node, std::size_t metric) { return (node << metric_bits) | static_cast<std::uint32_t>(metric); }
    NodeId node() const { return key >> metric_bits; }
    std::uint32_t metric() const { return key & ((1u << metric_bits) - 1); }
};
static_assert(cell_metrics <= (1u << Cell::metric_bits));

struct IterationProfile {
    Cell* cells = nullptr;
    std::uint32_t size = 0;

    std::size_t bytes() const { return size * sizeof(Cell); }
    /// Takes the non-zero values of an accumulator. Returns false if memory is short.
    bool take(Accumulator& rows, Pool& pool) noexcept;
    /// Adds the other profile cell by cell. Returns false, with nothing changed, if memory is short.
    bool add(const IterationProfile& other, Pool& pool) noexcept;
    void release(Pool& pool) noexcept;
};

} // namespace libprofile
