// The metrics of the running interval of one phase: a row of values per call-path node that was touched.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe; rows never move, so a pointer to
// a row stays valid until clear(). Memory comes from the thread's arena and is reused after clear().
#pragma once

#include "format/metrics.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/callpath/call_tree.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace libprofile {

/// The values of one node in one interval. Time, visits and samples lie in the first cache line, which every use of a row touches
/// anyway. Most rows have one or two more of thirty. A row notes which: the end of an iteration need not look at the others, nor does
/// the next iteration clear them.
struct alignas(64) Row {
    NodeId node = 0;
    std::uint32_t beyond : 31 = 0;           // what was written of what is not in the first line, see bit_of()
    std::uint32_t is_event : 1 = 0;          // counts for call-tree equivalence
    std::uint64_t chance_visits = 0;         // visits that are left out of the structure signature (unsuccessful tests)
    std::uint64_t values[cell_metrics] = {}; // to be read; written by operator[] only

    static constexpr std::size_t in_first_line = 6;
    static constexpr unsigned counters_bit = 30; // all counters together: few programs have any
    static constexpr unsigned bit_of(std::size_t m) { return m < metric_count ? static_cast<unsigned>(m - in_first_line) : counters_bit; }

    std::uint64_t& operator[](Metric metric) {
        const auto m = static_cast<std::size_t>(metric);
        // Not written again at every call: the next one would have to wait for it.
        if (m >= in_first_line && (beyond >> bit_of(m) & 1) == 0) [[unlikely]]
            beyond |= 1u << bit_of(m);
        return values[m];
    }
    std::uint64_t operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
    /// Of counter `i` of the choice.
    std::uint64_t& counter(std::size_t i) { return (*this)[static_cast<Metric>(metric_count + i)]; }
    /// The same in regions, where `counters` were chosen.
    std::uint64_t& region_counter(std::size_t i, std::size_t counters) { return counter(counters + i); }
    /// Bit m: metric m may be other than 0; in the first line, and of counters, it is.
    std::uint64_t present() const {
        std::uint64_t mask = std::uint64_t{beyond & ((1u << counters_bit) - 1)} << in_first_line;
        for_each_constant<in_first_line>([&](auto m) { mask |= std::uint64_t{values[m] != 0} << m; });
        if ((beyond >> counters_bit & 1) != 0) [[unlikely]]
            for (std::size_t m = metric_count; m < cell_metrics; ++m) mask |= std::uint64_t{values[m] != 0} << m;
        return mask;
    }
    /// A row of no values for another node.
    void begin_again(NodeId for_node) {
        for (std::uint32_t left = beyond & ((1u << counters_bit) - 1); left != 0; left &= left - 1)
            values[in_first_line + static_cast<unsigned>(std::countr_zero(left))] = 0;
        if ((beyond >> counters_bit & 1) != 0) [[unlikely]]
            for (std::size_t m = metric_count; m < cell_metrics; ++m) values[m] = 0;
        for (std::size_t m = 0; m < in_first_line; ++m) values[m] = 0;
        node = for_node;
        beyond = is_event = 0;
        chance_visits = 0;
    }
};
static_assert(metric_count - Row::in_first_line <= Row::counters_bit && cell_metrics <= 64);
static_assert(offsetof(Row, values) + Row::in_first_line * sizeof(std::uint64_t) == 64);

class Accumulator {
  public:
    /// The row of `node`; when memory ran out, that of the node it is folded into. After reserve() only.
    Row& row(NodeId node, CallTree& tree, Arena& arena) noexcept {
        if (node < index_size_ && index_[node] != 0) return rows_[index_[node] - 1];
        return new_row(node, tree, arena);
    }
    /// Takes the memory for booking anything at all, which then works without more. Returns false if memory is short.
    bool reserve(const CallTree& tree, Arena& arena) noexcept;
    /// The row of `node` if it was touched since clear(), else nullptr.
    Row* find(NodeId node) noexcept {
        if (node < index_size_) return index_[node] != 0 ? &rows_[index_[node] - 1] : nullptr;
        for (std::size_t i = 0; i < beyond_; ++i)
            if (rows_[beyond_index_[i]].node == node) return &rows_[beyond_index_[i]];
        return nullptr;
    }
    /// Rows touched since clear(), in order of first touch.
    std::size_t size() const { return used_; }
    Row& operator[](std::size_t i) { return rows_[i]; }
    void clear() noexcept;

  private:
    bool grow_index(NodeId node, const CallTree& tree, Arena& arena) noexcept;
    Row& new_row(NodeId node, CallTree& tree, Arena& arena) noexcept;
    bool has_room(std::size_t rows, Arena& arena) noexcept;
    /// Rows for which memory is kept: "(quota)" and some MPI functions below it.
    static constexpr std::size_t spare_rows = 9;

    StableArray<Row, 4> rows_; // small pieces: a thread that does little has few rows
    std::size_t used_ = 0;
    std::uint32_t* index_ = nullptr; // by node: row + 1
    std::size_t index_size_ = 0;
    std::uint32_t beyond_index_[spare_rows] = {}; // rows of folded nodes that are beyond the index, which could not grow
    std::size_t beyond_ = 0;
};

} // namespace libprofile
