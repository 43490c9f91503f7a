#include "libprofile/metrics/accumulator.hpp"

#include <algorithm>

namespace libprofile {

Row& Accumulator::new_row(NodeId node, const CallTree& tree, Arena& arena) noexcept {
    if (node >= index_size_) {
        std::size_t wanted = index_size_ == 0 ? 256 : index_size_;
        while (wanted <= node) wanted *= 2;
        if (wanted < tree.size()) wanted = tree.size();
        if (auto* index = arena.array<std::uint32_t>(wanted)) {
            std::copy(index_, index_ + index_size_, index);
            index_ = index;
            index_size_ = wanted;
        }
    }
    if (node < index_size_ && (used_ < rows_.size() || rows_.append(arena) != nullptr)) {
        Row& fresh = rows_[used_];
        fresh = Row{};
        fresh.node = node;
        index_[node] = static_cast<std::uint32_t>(++used_);
        return fresh;
    }
    // Out of memory: whatever cannot have a row of its own is summed up on the first one that stands for losses.
    const NodeId quota = tree.quota();
    if (node != quota && quota < index_size_) {
        if (index_[quota] != 0) return rows_[index_[quota] - 1];
        if (used_ < rows_.size()) return new_row(quota, tree, arena);
    }
    if (used_ != 0) return rows_[used_ - 1];
    return spare_;
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
