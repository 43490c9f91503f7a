// A call tree in which repeated calls are one: what stands next to its like, as passes of a loop do, is a node with visits.
// Contract: plain data; functions are thread-safe (no state), work without recursion but that of TreeAligner, and throw std::bad_alloc only. Folding takes
// time in proportion to the nodes, and to the calls inside of those that are folded and not alike.
//
// Up to 32 calls that follow each other twice with the same keys are one pass each. What they call is aligned (tree_alignment.hpp), and what only some of
// the passes call is kept, too. So the visits of all nodes for a key are as many as those of the whole tree.
#pragma once

#include "tools/structure/ordered_tree.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace libprofile::tools {

/// How often a call was made by the processes that made it.
struct NodeVisits {
    std::uint64_t least = 1, most = 1; // of one process
    std::uint32_t who = 0;             // which processes; the caller numbers sets of them
};

struct FoldedTree {
    OrderedTree tree;               // each call once; its hash says nothing of visits
    std::vector<NodeVisits> visits; // by node
};

/// Of one process. All sets of processes are 0.
FoldedTree folded_tree(const OrderedTree& tree);

using CombineVisits = std::function<NodeVisits(const NodeVisits&, const NodeVisits&)>;

/// All calls of both. @param combine visits of partners; those of others stay as they are
FoldedTree combined_tree(const FoldedTree& a, const FoldedTree& b, const CombineVisits& combine);

/// Distances of folded trees, and what puts them together: so many pairings are tried out for two of them.
inline constexpr std::size_t folded_cells = std::size_t{1} << 20;

} // namespace libprofile::tools
