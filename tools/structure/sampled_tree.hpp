// The call tree of what samples hit, and when they hit it; and two of them with their children in order, to be aligned.
// Contract: thread-safe (no state); time in proportion to the samples times the depth of their call paths, memory to the call paths; no recursion; throws
// std::bad_alloc only.
//
// Each function is one node below a caller, however often it was called: chance says which of its calls a sample hits, and which of the functions of a loop
// is seen first. So there are no passes to be folded, and whether two neighbours lie in one activation makes no difference.
//
// Of two functions below a caller one comes before the other if nine tenths of its samples are before nine tenths of the other's. What comes back all the
// time has no order: a function that logs, the parts of a loop. Only an order that is clear in both trees, and not the same, puts children of the second
// one in another order than those of the first.
#pragma once

#include "tools/structure/ordered_tree.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

struct SampledNode {
    std::uint32_t path = 0;
    std::uint32_t parent = 0; // index of the node; of the root: itself
    std::uint32_t own = 0;    // samples that hit it
    std::uint32_t all = 0;    // and what it calls
    // When: numbers of samples. A tenth of `all` is before `low`, and a tenth behind `high`.
    std::uint32_t low = 0, high = 0;
    double mean = 0;
};

/// Nodes by ascending path; the first one is the root.
struct SampledTree {
    std::vector<SampledNode> nodes;

    std::uint64_t samples() const { return nodes.empty() ? 0 : nodes.front().all; }
};

/// @param sightings call paths, in the order of time; fewer than 2^31
/// @param parent_of_path by call path; path 0 is the root, and parents have smaller numbers than children; no two paths have the same parent and key
SampledTree sampled_tree(std::span<const std::uint32_t> sightings, std::span<const std::uint32_t> parent_of_path);

/// Both as they are aligned: `path` of a node is its call path, `events` are the samples in its subtree. Hashes say nothing of these.
std::array<OrderedTree, 2> in_order(const SampledTree& a, const SampledTree& b, std::span<const std::uint64_t> key_of_path);

} // namespace libprofile::tools
