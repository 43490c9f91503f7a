#include "libprofile/callpath/call_tree.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/metrics/hashing.hpp"

namespace libprofile {

bool CallTree::start() noexcept {
    if (nodes_.append(*arena_) == nullptr || !grow_table()) return false; // the root
    nodes_[0] = Node{};
    for (const NodeKind kind : {NodeKind::Overhead, NodeKind::OffCpu, NodeKind::NotSampled, NodeKind::Partial,
                                NodeKind::NotRecorded, NodeKind::Quota})
        if (child(0, kind, 0, 0) == 0) return false;
    return true;
}

std::uint32_t CallTree::slot_of(NodeId parent, NodeKind kind, std::uint32_t a, std::uint64_t b) const noexcept {
    std::uint64_t h = mix(b ^ (std::uint64_t{a} << 40) ^ (std::uint64_t{parent} << 8) ^ static_cast<std::uint64_t>(kind));
    auto slot = static_cast<std::uint32_t>(h) & mask_;
    for (; table_[slot] != 0; slot = (slot + 1) & mask_) {
        const Node& node = nodes_[table_[slot]];
        if (node.parent == parent && node.b == b && node.a == a && node.kind == kind) break;
    }
    return slot;
}

bool CallTree::grow_table() noexcept {
    const std::uint32_t slots = mask_ == 0 ? 1024 : (mask_ + 1) * 2;
    auto* table = arena_->array<NodeId>(slots);
    if (table == nullptr) return false;
    table_ = table;
    mask_ = slots - 1;
    for (NodeId id = 1; id < nodes_.size(); ++id) {
        const Node& node = nodes_[id];
        table_[slot_of(node.parent, node.kind, node.a, node.b)] = id;
    }
    return true;
}

NodeId CallTree::child(NodeId parent, NodeKind kind, std::uint32_t a, std::uint64_t b) noexcept {
    if (parent == quota()) return parent;
    std::uint32_t slot = slot_of(parent, kind, a, b);
    if (table_[slot] != 0) return table_[slot];
    const auto id = static_cast<NodeId>(nodes_.size());
    if (id * std::uint64_t{4} > std::uint64_t{mask_} * 3) {
        if (!grow_table()) return ++quota_hits_, quota();
        slot = slot_of(parent, kind, a, b);
    }
    Node* node = nodes_.append(*arena_);
    if (node == nullptr) return ++quota_hits_, quota();
    node->parent = parent;
    node->kind = kind;
    node->a = a;
    node->b = b;
    node->typical_ns = 0;
    // Modules count with their build-id, not with their number, so that signatures compare between processes.
    const std::uint64_t what = kind == NodeKind::Frame ? load_map[a].hash : a;
    const Node& outer = nodes_[parent];
    const std::uint64_t key = mix(what ^ (static_cast<std::uint64_t>(kind) << 56)) + b;
    node->path_hash[0] = mix(outer.path_hash[0] * 0x9e3779b97f4a7c15u + key);
    node->path_hash[1] = mix(outer.path_hash[1] * 0xc2b2ae3d27d4eb4fu + (key ^ 0x5851f42d4c957f2du));
    table_[slot] = id;
    return id;
}

NodeId CallTree::frame(NodeId parent, std::uintptr_t address) noexcept {
    const std::uint32_t module = load_map.find(address);
    if (module == LoadMap::none) return child(parent, NodeKind::Unknown, 0, address);
    return child(parent, NodeKind::Frame, module, address - load_map[module].bias);
}

NodeId CallTree::path(RawPath& path, bool skip_bindings) noexcept {
    std::uint64_t digest[2] = {path.size * 2 + (skip_bindings ? 1 : 0), 0x2545f4914f6cdd1du};
    for (std::size_t i = 0; i < path.size; ++i) {
        digest[0] = (digest[0] ^ path.addresses[i]) * 0x9e3779b97f4a7c15u;
        digest[0] ^= digest[0] >> 29;
        digest[1] = (digest[1] + path.addresses[i]) * 0xc2b2ae3d27d4eb4fu;
        digest[1] ^= digest[1] >> 31;
    }
    KnownPath& known = known_[digest[0] % known_paths];
    const std::uint32_t epoch = load_map.epoch();
    if (known.epoch == epoch && known.digest[0] == digest[0] && known.digest[1] == digest[1]) {
        path.complete = true;
        return known.node;
    }
    const NodeId node = insert(path, skip_bindings);
    if (path.complete && node != quota()) known = {{digest[0], digest[1]}, epoch, node};
    return node;
}

NodeId CallTree::lone_frame(std::uintptr_t address) noexcept {
    ++partial_paths_;
    return frame(partial(), address);
}

NodeId CallTree::insert(RawPath& path, bool skip_bindings) noexcept {
    unwinder.trim(path);
    std::size_t inner = 0; // frames left out at the inner end
    if (skip_bindings)
        while (inner + 1 < path.size) {
            const std::uint32_t module = load_map.find(path.addresses[inner]);
            if (module == LoadMap::none || !load_map[module].binding_layer) break;
            ++inner;
        }
    const std::uint32_t epoch = load_map.epoch();
    if (epoch != last_epoch_ || path.complete != last_complete_) last_size_ = 0; // addresses may mean something else now
    last_epoch_ = epoch;
    last_complete_ = path.complete;
    if (!path.complete) ++partial_paths_;

    const std::size_t depth = path.size - inner;
    NodeId node = path.complete ? 0 : partial();
    std::size_t level = 0;
    for (; level < depth && level < last_size_; ++level) {
        if (last_address_[level] != path.addresses[path.size - 1 - level]) break;
        node = last_node_[level];
    }
    for (; level < depth; ++level) {
        const std::uintptr_t address = path.addresses[path.size - 1 - level];
        node = frame(node, address);
        last_address_[level] = address;
        last_node_[level] = node;
    }
    last_size_ = depth;
    return node;
}

} // namespace libprofile
