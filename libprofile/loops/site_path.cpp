#include "libprofile/loops/site_path.hpp"

namespace libprofile {

/// Successive calls are mostly close in the tree: only the inner end changes.
bool SitePath::find(const CallTree& tree, NodeId function) noexcept {
    const NodeId last = tree[function].parent;
    if (size != 0 && last == end) return true;
    const std::uint32_t depth = tree[last].depth;
    if (depth == 0 || depth > most) {
        size = 0;
        end = no_node;
        return false;
    }
    std::uint32_t level = depth;
    for (NodeId node = last; level != 0 && (level > size || site[level - 1] != node); node = tree[node].parent) site[--level] = node;
    size = depth;
    end = last;
    return true;
}

} // namespace libprofile
