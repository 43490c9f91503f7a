#include "libprofile/merge/table_builder.hpp"

#include <algorithm>

namespace libprofile {

bool TableBuilder::add(std::uint32_t parent, NodeKind kind, std::uint32_t target, std::uint64_t b) noexcept {
    if (nodes_.is_empty() && nodes_.append() == nullptr) return false; // the root
    if (parent >= nodes_.size() || target >= TableNode::most_targets || nodes_.size() > 0xfffffffeu) return false;
    TableNode* slot = nodes_.append();
    if (slot == nullptr) return false;
    *slot = {parent, (static_cast<std::uint32_t>(kind) << TableNode::kind_shift) | target, b};
    return true;
}

bool TableBuilder::build(PathTable& table) noexcept {
    if (nodes_.is_empty() && nodes_.append() == nullptr) return false;
    const std::size_t count = nodes_.size();
    PageArray<std::uint32_t> order(*budget_); // of the nodes, by depth
    PageArray<std::uint32_t> begin(*budget_); // of each depth in `order`
    if (!numbers_.reserve(count) || order.append(count) == nullptr || !table.reserve_nodes(count)) return false;
    // numbers_ holds depths until a node's number is known, which is before its children are visited.
    std::uint32_t* depth = numbers_.append(count);
    depth[0] = 0;
    for (std::size_t i = 1; i < count; ++i) {
        depth[i] = depth[nodes_[i].parent] + 1;
        while (begin.size() <= std::size_t{depth[i]} + 1)
            if (begin.append() == nullptr) return false;
        ++begin[depth[i] + 1];
    }
    for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];                          // begin[1] is 0, as no node but the root has depth 0
    for (std::size_t i = 1; i < count; ++i) order[begin[depth[i]]++] = static_cast<std::uint32_t>(i); // now the end of each depth
    if (!table.add_node({})) return false;
    for (std::size_t d = 1, from = 0; d < begin.size(); ++d) {
        const std::size_t to = begin[d];
        for (std::size_t k = from; k < to; ++k) nodes_[order[k]].parent = numbers_[nodes_[order[k]].parent];
        std::sort(order.data() + from, order.data() + to, [this](std::uint32_t x, std::uint32_t y) { return nodes_[x] < nodes_[y]; });
        for (std::size_t k = from; k < to; ++k) {
            const TableNode& node = nodes_[order[k]];
            if ((k == from || !(node == nodes_[order[k - 1]])) && !table.add_node(node)) return false;
            numbers_[order[k]] = static_cast<std::uint32_t>(table.size() - 1);
        }
        from = to;
    }
    nodes_.release();
    return true;
}

} // namespace libprofile
