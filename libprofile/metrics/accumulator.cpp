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
    if (node < index_size_ && used_ + 1 + spare_rows <= rows_.size()) [[likely]] { // nothing is short, as in all iterations but the first
        Row& fresh = rows_[used_++];
        fresh.begin_again(node);
        index_[node] = static_cast<std::uint32_t>(used_);
        return fresh;
    }
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

} // namespace libprofile
