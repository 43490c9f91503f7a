#include "libprofile/loops/site_path.hpp"

namespace libprofile {

bool SitePath::find(const CallTree& tree, NodeId function) noexcept {
    const NodeId last = tree[function].parent;
    if (size != 0 && last == end) return true;
    // Nodes have greater numbers than their parents: going up where the greater one is meets at the innermost call site that both paths have.
    std::uint32_t common = size;
    std::uint32_t more = 0;
    NodeId node = last;
    for (; node != 0; node = tree[node].parent, ++more) {
        while (common != 0 && site[common - 1] > node) --common;
        if (common != 0 && site[common - 1] == node) break;
    }
    const std::uint32_t depth = (node == 0 ? 0 : common) + more;
    if (depth == 0 || depth > most) {
        size = 0;
        end = no_node;
        return false;
    }
    node = last;
    for (std::uint32_t level = depth; more != 0; --more, node = tree[node].parent) site[--level] = node;
    size = depth;
    end = last;
    return true;
}

/// Successive calls are mostly close in the tree: only the inner end changes.
void SitePath::find(const CallTree& tree, NodeId function, std::uint32_t depth) noexcept {
    const NodeId last = tree[function].parent;
    std::uint32_t level = depth;
    for (NodeId node = last; level != 0 && (level > size || site[level - 1] != node); node = tree[node].parent) site[--level] = node;
    size = depth;
    end = last;
}

} // namespace libprofile
