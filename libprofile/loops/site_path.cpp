#include "libprofile/loops/site_path.hpp"

namespace libprofile {

/// Successive calls are mostly close in the tree: only the inner end changes.
bool SitePath::follow(const CallTree& tree, NodeId last) noexcept {
    constexpr std::uint32_t near = 6;
    NodeId fresh[near];
    const std::uint32_t lowest = size > near ? size - near : 0;
    NodeId node = last;
    for (std::uint32_t count = 0; count < near && node != 0; ++count) {
        for (std::uint32_t i = size; i-- > lowest;) {
            if (site[i] != node) continue;
            if (i + 1 + count > most) return false;
            for (size = i + 1; count != 0;) site[size++] = fresh[--count];
            end = last;
            return true;
        }
        fresh[count] = node;
        node = tree[node].parent;
    }
    return false;
}

bool SitePath::find(const CallTree& tree, NodeId function) noexcept {
    const NodeId last = tree[function].parent;
    if (size != 0 && (last == end || follow(tree, last))) return true;
    std::uint32_t depth = 0;
    for (NodeId node = last; node != 0; node = tree[node].parent) ++depth;
    size = 0;
    end = no_node;
    if (depth == 0 || depth > most) return false;
    size = depth;
    end = last;
    for (NodeId node = last; node != 0; node = tree[node].parent) site[--depth] = node;
    return true;
}

} // namespace libprofile
