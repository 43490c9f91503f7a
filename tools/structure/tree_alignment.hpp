// Which calls of two processes, threads or runs are the same: each node of one call tree and its partner in the other.
// Contract: thread-safe (no state); memory in proportion to the nodes, and up to 0.25 GiB for what is tried out; time in proportion to the nodes times
// their differences, bounded as below; recursion is at most 256 calls deep; throws std::bad_alloc only.
//
// The roots are partners. Children of partners become partners if their keys are equal, in the order in which both have them; children of others never do.
// The cost is the number of events without a partner. What both lists of children begin or end with costs nothing: equal subtrees are known by their hashes.
// - What is left between has the least cost that this rule allows, and of pairings that cost the same, the one with the fewest gaps. This needs
//   `cells` comparisons in all: each part of the trees gets its share of them, by its nodes.
// - Where that is not enough, equal subtrees become partners first (the shortest edit script of hashes), then in the gaps between them equal keys.
//   If a list has more than 8,192 differences, both are aligned through a window of 512 to 2,048 elements that moves along them.
//
// Sources: M. Weber, R. Brendel and H. Brunst, "Trace File Comparison with a Hierarchical Sequence Alignment Algorithm", ISPA 2012, for the hierarchy;
// S. M. Selkow, "The tree-to-tree editing problem", Information Processing Letters 6 (1977), for the least cost by that rule.
#pragma once

#include "tools/structure/edit_script.hpp"
#include "tools/structure/ordered_tree.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace libprofile::tools {

inline constexpr std::size_t usual_cells = std::size_t{1} << 28; // comparisons; a second or two

struct TreeAlignment {
    std::vector<std::uint32_t> partner;       // by node of A: that of B, or no_partner
    std::uint64_t events_a = 0, events_b = 0; // without a partner
    double time_a = 0, time_b = 0;            // in these events

    std::uint64_t cost() const { return events_a + events_b; }
};

/// @param cells 0: nothing is tried out, equal subtrees always go first
TreeAlignment align_trees(const OrderedTree& a, const OrderedTree& b, std::size_t cells = usual_cells);

/// For those who also want partners that the rule does not allow: renamed functions.
class TreeAligner {
  public:
    using Nodes = std::span<const std::uint32_t>;

    TreeAligner(const OrderedTree& a, const OrderedTree& b, std::size_t cells);
    /// Partners, and all below them.
    void pair(std::uint32_t node_a, std::uint32_t node_b);
    /// Siblings of A and of B, and all below them.
    void pair_lists(Nodes list_a, Nodes list_b);
    /// All below two partners has no partner any more.
    void part_below(std::uint32_t node_a, std::uint32_t node_b);
    /// By node of A (0) or of B (1).
    const std::vector<std::uint32_t>& partners(int side = 0) const { return partner_[side]; }
    TreeAlignment alignment() const;

  private:
    bool can_be_tried_out(Nodes list_a, Nodes list_b) const;
    std::uint64_t distance(std::uint32_t node_a, std::uint32_t node_b);
    std::uint64_t least_cost(Nodes list_a, Nodes list_b, std::vector<std::uint8_t>* steps);
    void match(std::uint32_t node_a, std::uint32_t node_b);
    void match_lists(Nodes list_a, Nodes list_b);
    void match_cheapest(Nodes list_a, Nodes list_b);
    void match_gap(Nodes list_a, Nodes list_b);
    void match_open();

    const OrderedTree &a_, &b_;
    double share_;                                              // of the cells, by node
    std::array<std::vector<std::uint32_t>, 2> partner_;         // by node of A, and of B
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open_; // partners whose children are not aligned yet
    std::unordered_map<std::uint64_t, std::uint64_t> known_;    // distances, by both hashes
    std::size_t depth_ = 0;
};

} // namespace libprofile::tools
