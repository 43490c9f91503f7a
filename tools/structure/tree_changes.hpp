// What differs between two call trees, as a reader would say it: calls that were added, renamed functions, other numbers of passes.
// Contract: thread-safe (no state); memory in proportion to the nodes, time as that of an alignment; recursion is that of TreeAligner; throws
// std::bad_alloc only.
//
// Between the partners in two lists of children stand those without a partner. In this order:
// - equal subtrees, removed at one place and added at another one of the same list, were moved. Swapped phases are one that moved over the other;
// - a function at the place of another one was renamed, if at least half of what it calls is the same, however often;
// - a function was inlined, if at least half of what it calls stands in its place, and outlined in the reverse case. What is surest comes first;
// - what an added call split from its neighbour, since neighbours share their activations, is no change: its calls are aligned as if it were whole;
// - what repeats its neighbours, up to 64 of them, happens more or less often: passes of a loop;
// - all others were added or removed.
// What is below renamed and inlined functions is aligned again, and its changes are told, too.
#pragma once

#include "tools/structure/tree_alignment.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

enum class TreeChangeKind : std::uint8_t { Added, Removed, Moved, Renamed, Inlined, Outlined, MoreOften, LessOften };

/// "added", "removed", "moved", "renamed", "inlined", "outlined", "more often", "less often".
const char* tree_change_name(TreeChangeKind kind);

/// The same change at the same call paths is told once.
struct TreeChange {
    TreeChangeKind kind = TreeChangeKind::Added;
    // The first one that changed. Added, Outlined, MoreOften: node_a is the function around it. Removed, Inlined, LessOften: node_b is.
    std::uint32_t node_a = 0, node_b = 0;
    std::uint64_t times = 0;  // how often this change occurs; passes more or less
    std::uint64_t events = 0; // added, removed or moved with it, or inside what was renamed or inlined
    double time = 0;          // in them
};

struct TreeChanges {
    std::vector<TreeChange> changes; // by the first place in A, then in B
    TreeAlignment alignment;         // renamed functions are partners, too, and so is what is below renamed, inlined and split ones
};

TreeChanges tree_changes(const OrderedTree& a, const OrderedTree& b, std::size_t cells = usual_cells);

} // namespace libprofile::tools
