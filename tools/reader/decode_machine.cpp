#include "tools/reader/decode_machine.hpp"

#include "tools/reader/raw_records.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

namespace {

constexpr std::size_t least_bytes_of_object = 5, most_depth = 64;

/// Reads the objects; those that are open have a number of children that are still to come.
bool read_objects(Decoder& d, std::uint64_t count, std::vector<MachineNode>& nodes) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> open; // position, children
    for (std::uint32_t i = 0; i < count; ++i) {
        MachineObjectRecord r;
        describe(d, r);
        const bool is_known = r.type >= 1 && r.type <= static_cast<std::uint64_t>(MachineObject::Other);
        if (d.failed() || !is_known || r.number > most_machine_number || r.kind > most_machine_number || r.children > count || open.size() >= most_depth)
            return false;
        if ((i == 0) != (r.type == static_cast<std::uint64_t>(MachineObject::Machine)) || (i != 0 && open.empty())) return false;
        MachineNode& node = nodes.emplace_back();
        node.type = static_cast<MachineObject>(r.type);
        if (r.number != 0) node.number = static_cast<std::uint32_t>(r.number - 1);
        node.size = r.size;
        node.kind = static_cast<std::uint32_t>(r.kind);
        if (!open.empty()) --open.back().second;
        open.emplace_back(i, r.children);
        for (; !open.empty() && open.back().second == 0; open.pop_back()) nodes[open.back().first].end = i + 1;
    }
    return open.empty();
}

} // namespace

const char* machine_part(MachineObject type) {
    switch (type) { // without default: a type that is missing does not compile
    case MachineObject::Machine: return "machine";
    case MachineObject::Package: return "package";
    case MachineObject::Group: return "group";
    case MachineObject::Die: return "die";
    case MachineObject::NumaNode: return "NUMA node";
    case MachineObject::L5Cache: return "L5 cache";
    case MachineObject::L4Cache: return "L4 cache";
    case MachineObject::L3Cache: return "L3 cache";
    case MachineObject::L2Cache: return "L2 cache";
    case MachineObject::L1Cache: return "L1 cache";
    case MachineObject::Core: return "core";
    case MachineObject::Processor: return "processor";
    case MachineObject::Other: break;
    }
    return "part";
}

bool decode_machine(Decoder d, std::optional<MachineTree>& out) {
    MachineRecord r;
    describe(d, r);
    if (d.failed() || out || r.objects == 0 || r.objects > d.remaining() / least_bytes_of_object || r.distances > r.objects) return false;
    MachineTree tree;
    tree.source = owned(r.source);
    if (!read_objects(d, r.objects, tree.nodes) || (r.distances != 0 && d.remaining() / r.distances < r.distances)) return false;
    const auto numa_nodes = static_cast<std::uint64_t>(
        std::count_if(tree.nodes.begin(), tree.nodes.end(), [](const MachineNode& node) { return node.type == MachineObject::NumaNode; }));
    if (r.distances != 0 && r.distances != numa_nodes) return false;
    tree.distances.assign(r.distances, std::vector<std::uint64_t>(r.distances));
    for (std::vector<std::uint64_t>& row : tree.distances)
        for (std::uint64_t& value : row) d.number(value);
    if (d.failed() || d.remaining() != 0) return false;
    out = std::move(tree);
    return true;
}

} // namespace libprofile::tools
