// The call-path tree of one thread: every call path is a node, and children are found by (kind, a, b).
// Contract: belongs to one thread, used with its in-tool flag set, so that the thread's signal handler never sees it half changed.
// Async-signal-safe. Nodes are never moved or deleted. Memory comes from the thread's arena. When memory runs out, paths end at the
// "(quota)" node and are counted; MPI functions keep nodes of their own below it.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/base/memory.hpp"

#include <cstdint>

namespace libprofile {

using NodeId = std::uint32_t;
constexpr NodeId no_node = 0xffffffffu; // not yet looked up

struct Node {
    NodeId parent = 0;
    NodeKind kind = NodeKind::Root;
    std::uint32_t a = 0;
    std::uint32_t depth = 0; // number of nodes on the path to it, without the root
    std::uint64_t b = 0;
    std::uint64_t path_hash[2] = {}; // of the whole call path, equal in every process: the structure signature
    std::uint32_t typical_ns = 0;    // running mean duration of the events at this node
};
/// A place in a function's code, by which its call sites can be ordered in the same way in all processes.
constexpr bool is_call_site(const Node& node) { return node.kind == NodeKind::Frame || node.kind == NodeKind::Python; }
constexpr std::uint64_t place_in_code(const Node& site) { return site.kind == NodeKind::Python ? site.a : site.b; }
constexpr bool are_in_one_code(const Node& one, const Node& other) {
    return is_call_site(one) && one.kind == other.kind && (one.kind == NodeKind::Python ? one.b == other.b : one.a == other.a);
}

class CallTree {
  public:
    explicit CallTree(Arena& arena) : arena_(&arena) {}

    /// Memory is kept for this many nodes: MPI functions below "(quota)".
    static constexpr std::size_t spare_nodes = 64;

    /// Creates the root and the fixed nodes. Returns false if memory is short.
    bool start() noexcept;

    NodeId child(NodeId parent, NodeKind kind, std::uint32_t a, std::uint64_t b) noexcept;
    /// The node that represents such a path when memory is too short for its own.
    NodeId folded(NodeKind kind, std::uint32_t a) noexcept { return is_call(kind) ? child(quota(), kind, a, 0) : quota(); }
    /// The node of the call path that continues from `parent` at the look-up address `address` (RawPath).
    NodeId frame(NodeId parent, std::uintptr_t address) noexcept;
    /// Counts a path whose outer end is unknown; its parent is partial().
    void count_partial_path() noexcept { ++partial_paths_; }
    /// The node of an instruction whose callers are not looked for: one frame below "(partial)".
    NodeId lone_frame(std::uintptr_t address) noexcept;

    Node& operator[](NodeId id) { return nodes_[id]; }
    const Node& operator[](NodeId id) const { return nodes_[id]; }
    std::size_t size() const { return nodes_.size(); }
    /// Returns true if there are only the fixed nodes.
    bool is_empty() const { return nodes_.size() == std::size_t{quota()} + 1; }

    NodeId overhead() const { return 1; }
    NodeId off_cpu() const { return 2; }
    NodeId not_sampled() const { return 3; }
    NodeId partial() const { return 4; }
    NodeId not_recorded() const { return 5; }
    NodeId quota() const { return 6; }

    std::uint64_t partial_paths() const { return partial_paths_; }
    std::uint64_t quota_hits() const { return quota_hits_; }

  private:
    struct KnownFrame {
        std::uintptr_t address = 0;
        NodeId parent = 0;
        NodeId node = 0;
        std::uint32_t epoch = 0;
    };
    static constexpr std::size_t known_frames = 512;

    bool grow_table() noexcept;
    bool has_room() noexcept;
    std::uint32_t slot_of(NodeId parent, NodeKind kind, std::uint32_t a, std::uint64_t b) const noexcept;

    Arena* arena_;
    StableArray<Node, 7> nodes_;
    NodeId* table_ = nullptr; // open addressing; 0 = free (the root is nobody's child)
    std::uint32_t mask_ = 0;

    KnownFrame known_[known_frames] = {}; // recent look-ups, which need neither the load map nor the tree

    std::uint64_t partial_paths_ = 0;
    std::uint64_t quota_hits_ = 0;
    std::size_t folded_ = 0; // nodes below "(quota)"
};

} // namespace libprofile
