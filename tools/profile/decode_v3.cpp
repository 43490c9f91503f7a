#include "tools/profile/decode_v3.hpp"

namespace libprofile::tools {

bool decode_tree_v3(Decoder d, RawRank& out) {
    LocationRecord location;
    RawTree tree;
    d.number(tree.record.thread);
    d.number(tree.record.nodes);
    d.number(location.wall_ns);
    d.number(location.complete);
    if (tree.record.thread > max_id || !decode_nodes(d, tree) || d.remaining() != 0)
        return false;
    const auto thread = static_cast<std::uint32_t>(tree.record.thread);
    location.thread = thread;
    return out.tables.trees.emplace(thread, std::move(tree)).second && out.locations.emplace(thread, location).second;
}

} // namespace libprofile::tools
