#include "libprofile/loops/site_path.hpp"

namespace libprofile {

bool SitePath::find(const CallTree& tree, NodeId function) noexcept {
    const NodeId last = tree[function].parent;
    if (size != 0 && last == end) return true;
    std::uint32_t depth = 0;
    for (NodeId node = last; node != 0; node = tree[node].parent) ++depth;
    if (depth == 0 || depth > most) {
        size = 0;
        end = no_node;
        return false;
    }
    find(tree, function, depth);
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
