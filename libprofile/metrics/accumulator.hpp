// The metrics of the running interval of one phase: a row of values per call-path node that was touched.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe; rows never move, so a pointer to
// a row stays valid until clear(). Memory comes from the thread's arena and is reused after clear().
#pragma once

#include "format/metrics.hpp"
#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/session/memory.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace libprofile {

/// The values of one node in one interval. Time, visits and samples lie in the first cache line, which whoever uses a row touches
/// anyway. Most rows have one or two more of thirty, so a row notes which: the end of an iteration need not look at the others, nor
/// the next one clear them.
struct alignas(64) Row {
    NodeId node = 0;
    std::uint32_t beyond : 31 = 0;    // bit m: metric m, not in the first line, was written
    std::uint32_t is_event : 1 = 0;   // counts for call-tree equivalence
    std::uint64_t weight = 0;         // thread CPU ns of the samples that hit it outside events
    std::uint64_t chance_visits = 0;  // visits that are left out of the structure signature (unsuccessful tests)
    std::uint64_t values[metric_count] = {}; // to be read; written by operator[] only

    static constexpr std::size_t in_first_line = 5;

    std::uint64_t& operator[](Metric metric) {
        const auto m = static_cast<std::size_t>(metric);
        // Not written again at every call: the next one would have to wait for it.
        if (m >= in_first_line && (beyond >> m & 1) == 0) [[unlikely]] beyond |= 1u << m;
        return values[m];
    }
    std::uint64_t operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
    /// Bit m: metric m may be other than 0; in the first line it is.
    std::uint32_t present() const {
        std::uint32_t mask = beyond;
        for (std::size_t m = 0; m < in_first_line; ++m) mask |= std::uint32_t{values[m] != 0} << m;
        return mask;
    }
    /// A row of no values for another node.
    void begin_again(NodeId for_node) {
        for (std::uint32_t left = beyond; left != 0; left &= left - 1) values[std::countr_zero(left)] = 0;
        for (std::size_t m = 0; m < in_first_line; ++m) values[m] = 0;
        node = for_node;
        beyond = is_event = 0;
        weight = chance_visits = 0;
    }
};
static_assert(metric_count <= 31);
static_assert(offsetof(Row, values) + Row::in_first_line * sizeof(std::uint64_t) == 64);

class Accumulator {
  public:
    /// The row of `node`; when memory ran out, that of the node it is folded into. After reserve() only.
    Row& row(NodeId node, CallTree& tree, Arena& arena) noexcept {
        if (node < index_size_ && index_[node] != 0) return rows_[index_[node] - 1];
        return new_row(node, tree, arena);
    }
    /// Takes the memory that is needed to book anything at all, later without any. False: there is none.
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

    StableArray<Row, 5> rows_;
    std::size_t used_ = 0;
    std::uint32_t* index_ = nullptr; // by node: row + 1
    std::size_t index_size_ = 0;
    std::uint32_t beyond_index_[spare_rows] = {}; // rows of folded nodes that are beyond the index, which could not grow
    std::size_t beyond_ = 0;
};

/// Shares `total` out over the rows by their sample weights as exact integers (largest remainders), adding to their
/// time; false (and nothing shared) when no row has a weight. Afterwards none has one.
bool share_out_compute_time(Accumulator& rows, std::uint64_t total, Pool& scratch) noexcept;

} // namespace libprofile
