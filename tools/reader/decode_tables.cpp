#include "tools/reader/decode_tables.hpp"

namespace libprofile::tools {

bool read_count(Decoder& d, std::uint64_t& count, std::size_t smallest) {
    d.number(count);
    return !d.failed() && count <= d.remaining() / smallest;
}

bool read_functions(Decoder& d, std::map<std::uint64_t, Function>& functions) {
    std::uint64_t count = 0;
    if (!read_count(d, count, 3)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        FunctionRecord r;
        describe(d, r);
        if (d.failed() || r.category >= static_cast<std::uint64_t>(TimeCategory::Count)) return false;
        functions[r.id] = Function{owned(r.name), static_cast<TimeCategory>(r.category)};
    }
    return true;
}

bool decode_nodes(Decoder& d, RawTree& tree) {
    if (d.failed() || tree.record.nodes > d.remaining() / 4) return false;
    tree.nodes.resize(tree.record.nodes);
    for (std::uint64_t i = 0; i < tree.record.nodes; ++i) {
        NodeRecord& node = tree.nodes[i];
        describe(d, node);
        if (node.parent_distance == 0 || node.parent_distance > i + 1) return false;
        if (!is_stored_kind(node.kind)) return false;
    }
    return !d.failed();
}

} // namespace libprofile::tools
