#include "libprofile/metrics/accumulator.hpp"

#include <algorithm>

namespace libprofile {

bool Accumulator::grow_index(NodeId node, const CallTree& tree, Arena& arena) noexcept {
    if (node < index_size_) return true;
    std::size_t wanted = index_size_ == 0 ? 256 : index_size_;
    while (wanted <= node) wanted *= 2;
    if (wanted < tree.size() + CallTree::spare_nodes) wanted = tree.size() + CallTree::spare_nodes;
    auto* index = arena.array<std::uint32_t>(wanted);
    if (index == nullptr) return false;
    std::copy(index_, index_ + index_size_, index);
    index_ = index;
    index_size_ = wanted;
    for (std::size_t i = 0; i < beyond_; ++i) index_[rows_[beyond_index_[i]].node] = beyond_index_[i] + 1; // all are of the tree
    beyond_ = 0;
    return true;
}

bool Accumulator::has_room(std::size_t rows, Arena& arena) noexcept {
    while (rows_.size() < used_ + rows)
        if (rows_.append(arena) == nullptr) return false;
    return true;
}

Row& Accumulator::new_row(NodeId node, CallTree& tree, Arena& arena) noexcept {
    // Some rows stay free for what cannot have a row of its own: it is summed up by MPI function, or for "(quota)" alone.
    const bool is_folded = node == tree.quota() || tree[node].parent == tree.quota();
    if ((node >= index_size_ && !grow_index(node, tree, arena)) || (!is_folded && !has_room(1 + spare_rows, arena))) {
        node = tree.folded(tree[node].kind, tree[node].a);
        if (Row* known = find(node)) return *known;
    }
    // The last one is that of "(quota)".
    if (node != tree.quota() && ((node >= index_size_ && beyond_ == spare_rows) || !has_room(find(tree.quota()) != nullptr ? 1 : 2, arena))) {
        node = tree.quota();
        if (Row* known = find(node)) return *known;
    }
    has_room(1, arena); // for "(quota)" it is there since reserve()
    Row& fresh = rows_[used_];
    fresh.begin_again(node);
    if (node < index_size_)
        index_[node] = static_cast<std::uint32_t>(used_ + 1);
    else
        beyond_index_[beyond_++] = static_cast<std::uint32_t>(used_);
    ++used_;
    return fresh;
}

bool Accumulator::reserve(const CallTree& tree, Arena& arena) noexcept {
    return grow_index(tree.quota(), tree, arena) && (rows_.size() != 0 || rows_.append(arena) != nullptr);
}

void Accumulator::clear() noexcept {
    for (std::size_t i = 0; i < used_; ++i)
        if (rows_[i].node < index_size_) index_[rows_[i].node] = 0;
    used_ = beyond_ = 0;
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
        std::uint64_t share = 0;
        std::uint64_t rest = 0;
        if (product >> 64 == 0) { // mostly; the other division is a function
            share = static_cast<std::uint64_t>(product) / weights;
            rest = static_cast<std::uint64_t>(product) % weights;
        } else {
            share = static_cast<std::uint64_t>(product / weights);
            rest = static_cast<std::uint64_t>(product - static_cast<unsigned __int128>(share) * weights);
        }
        row[Metric::Time] += share;
        given += share;
        if (remainders == nullptr) continue;
        row.weight = 0;
        remainders[n++] = {rest, &row};
    }
    std::uint64_t left = total - given; // fewer than `weighted`
    if (remainders == nullptr) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].weight == 0) continue;
            rows[i].weight = 0;
            if (left != 0) ++rows[i][Metric::Time], --left;
        }
        return true;
    }
    std::nth_element(remainders, remainders + left, remainders + n,
                     [](const Remainder& a, const Remainder& b) { return a.rest != b.rest ? a.rest > b.rest : a.row->node < b.row->node; });
    for (std::size_t i = 0; i < left; ++i) ++(*remainders[i].row)[Metric::Time];
    scratch.release(remainders, bytes);
    return true;
}

bool share_out_counters(Accumulator& rows, const std::uint64_t* totals) noexcept {
    std::uint64_t weights = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) weights += rows[i].weight;
    if (weights == 0) return false;
    std::uint64_t until = 0; // weights of the rows so far
    std::uint64_t given[most_counters] = {};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Row& row = rows[i];
        if (row.weight == 0) continue;
        until += row.weight;
        for (std::size_t c = 0; c < most_counters; ++c) {
            if (totals[c] == given[c]) continue;
            // What all rows so far are to have, less what those before this one have.
            const auto wanted = static_cast<std::uint64_t>(static_cast<unsigned __int128>(totals[c]) * until / weights);
            if (wanted == given[c]) continue;
            row.counter(c) += wanted - given[c];
            given[c] = wanted;
        }
    }
    return true;
}

} // namespace libprofile
