#include "libprofile/callpath/call_tree.hpp"

#include "libprofile/base/hashing.hpp"
#include "libprofile/callpath/load_map.hpp"

namespace libprofile {

bool CallTree::start() noexcept {
    if (nodes_.append(*arena_) == nullptr || !grow_table()) return false; // the root
    nodes_[0] = Node{};
    for (const NodeKind kind : {NodeKind::Overhead, NodeKind::OffCpu, NodeKind::NotSampled, NodeKind::Partial, NodeKind::NotRecorded, NodeKind::Quota})
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

/// Call paths leave part of the quota for phases to come and their iterations. A folded path still has its function and time; an
/// iteration without memory has nothing.
static bool leaves_some_memory() { return memory_quota.used() < memory_quota.limit() - memory_quota.limit() / 16; }

/// Returns true if one more node fits in addition to the spare ones. A full table takes those, too: a quarter of it is free.
bool CallTree::has_room() noexcept {
    static_assert(spare_nodes < 1024 / 4);
    return (nodes_.size() * 4 <= std::uint64_t{mask_} * 3 || grow_table()) && nodes_.reserve(1 + spare_nodes, *arena_) && leaves_some_memory();
}

NodeId CallTree::child(NodeId parent, NodeKind kind, std::uint32_t a, std::uint64_t b) noexcept {
    if (parent == quota() && !is_call(kind)) return parent;
    if (const NodeId known = table_[slot_of(parent, kind, a, b)]) return known;
    if (parent != quota() && !has_room()) return ++quota_hits_, folded(kind, a);
    const std::uint32_t slot = slot_of(parent, kind, a, b); // in the table as it is now
    const auto id = static_cast<NodeId>(nodes_.size());
    if (parent == quota() && ++folded_ > spare_nodes) return quota();
    Node* node = nodes_.append(*arena_);
    if (node == nullptr) return quota();
    node->parent = parent;
    node->kind = kind;
    node->a = a;
    node->b = b;
    node->typical_ns = 0;
    // A module counts with its build-id, not its number, so signatures are comparable between processes.
    const std::uint64_t what = is_in_module(kind) ? load_map[a].hash : a;
    const Node& outer = nodes_[parent];
    node->depth = outer.depth + 1;
    const std::uint64_t key = mix(what ^ (static_cast<std::uint64_t>(kind) << 56)) + b;
    node->path_hash[0] = mix(outer.path_hash[0] * golden + key);
    node->path_hash[1] = mix(outer.path_hash[1] * 0xc2b2ae3d27d4eb4fu + (key ^ 0x5851f42d4c957f2du));
    table_[slot] = id;
    return id;
}

NodeId CallTree::frame(NodeId parent, std::uintptr_t address) noexcept {
    const std::uint32_t epoch = load_map.epoch();
    KnownFrame& known = known_[short_hash(address ^ (std::uintptr_t{parent} << 20), 64 - 55)];
    static_assert(known_frames == 1u << (64 - 55));
    if (known.address == address && known.parent == parent && known.epoch == epoch) return known.node;
    const std::uint32_t module = load_map.find(address);
    const NodeId node =
        module == LoadMap::none ? child(parent, NodeKind::Unknown, 0, address) : child(parent, NodeKind::Frame, module, address - load_map[module].bias);
    if (module != LoadMap::none && node != quota() && is_settled(epoch)) known = {address, parent, node, epoch};
    return node;
}

NodeId CallTree::lone_frame(std::uintptr_t address) noexcept {
    ++partial_paths_;
    return frame(partial(), address);
}

} // namespace libprofile
