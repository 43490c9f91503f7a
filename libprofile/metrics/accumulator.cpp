#include "libprofile/metrics/accumulator.hpp"

#include <algorithm>

namespace libprofile {

bool Accumulator::grow_index(NodeId node, const CallTree& tree, Arena& arena) noexcept {
    if (node < index_size_) return true;
    std::size_t wanted = index_size_ == 0 ? 256 : index_size_;
    while (wanted <= node) wanted *= 2;
    if (wanted < tree.size()) wanted = tree.size();
    auto* index = arena.array<std::uint32_t>(wanted);
    if (index == nullptr) return false;
    std::copy(index_, index_ + index_size_, index);
    index_ = index;
    index_size_ = wanted;
    return true;
}

Row& Accumulator::new_row(NodeId node, const CallTree& tree, Arena& arena) noexcept {
    if (node >= index_size_) grow_index(node, tree, arena);
    // One row stays free for the "(quota)" node, under which all is summed up that cannot have a row of its own.
    const NodeId quota = tree.quota();
    const std::size_t needed = used_ + (node == quota || find(quota) != nullptr ? 1 : 2);
    while (rows_.size() < needed && rows_.append(arena) != nullptr) {
    }
    if (node >= index_size_ || rows_.size() < needed) {
        if (Row* lost = find(quota)) return *lost;
        node = quota;
    }
    Row& fresh = rows_[used_];
    fresh = Row{};
    fresh.node = node;
    index_[node] = static_cast<std::uint32_t>(++used_);
    return fresh;
}

bool Accumulator::reserve(const CallTree& tree, Arena& arena) noexcept {
    if (!grow_index(tree.quota(), tree, arena) || (rows_.size() == 0 && rows_.append(arena) == nullptr)) return false;
    return true;
}

void Accumulator::clear() noexcept {
    for (std::size_t i = 0; i < used_; ++i) index_[rows_[i].node] = 0;
    used_ = 0;
}

bool share_out_compute_time(Accumulator& rows, std::uint64_t total, Pool& scratch) noexcept {
    std::uint64_t weights = 0;
    std::size_t weighted = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        weights += rows[i].weight;
        weighted += rows[i].weight != 0 ? 1 : 0;
    }
    if (weights == 0) return false;

    struct Remainder {
        std::uint64_t rest;
        Row* row;
    };
    const std::size_t bytes = weighted * sizeof(Remainder);
    auto* remainders = static_cast<Remainder*>(scratch.allocate(bytes));
    std::uint64_t given = 0;
    std::size_t n = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Row& row = rows[i];
        if (row.weight == 0) continue;
        const auto product = static_cast<unsigned __int128>(total) * row.weight;
        const auto share = static_cast<std::uint64_t>(product / weights);
        row[Metric::Time] += share;
        given += share;
        if (remainders != nullptr) remainders[n++] = {static_cast<std::uint64_t>(product % weights), &row};
    }
    std::uint64_t left = total - given; // fewer than `weighted`
    if (remainders == nullptr) {
        for (std::size_t i = 0; i < rows.size() && left != 0; ++i)
            if (rows[i].weight != 0) ++rows[i][Metric::Time], --left;
        return true;
    }
    std::partial_sort(remainders, remainders + left, remainders + n, [](const Remainder& a, const Remainder& b) {
        return a.rest != b.rest ? a.rest > b.rest : a.row->node < b.row->node;
    });
    for (std::size_t i = 0; i < left; ++i) ++(*remainders[i].row)[Metric::Time];
    scratch.release(remainders, bytes);
    return true;
}

} // namespace libprofile
