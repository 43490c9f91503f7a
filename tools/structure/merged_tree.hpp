// The call trees of many processes in one: which of them made each call, and how often.
// Contract: TreeMerger belongs to one thread; merge() works on all processors. Memory and time in proportion to the folded trees (folded_tree.hpp) of
// processes that differ, and at most 2,016 alignments of two; recursion is that of TreeAligner; throws std::bad_alloc only.
//
// Processes with equal trees are one. Those whose folded trees are equal are put together without an alignment. Of what is left, the 64 that stand for
// most processes are representatives; the others join the one with the most pairs of caller and callee in common. Representatives are aligned one after
// the other, from the nearest on: the distance is the number of calls of folded trees without a partner, and that of groups the mean.
//
// Sources: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (TU Dresden, 2016), chapter 4, for the merged call tree and the
// pairs of functions; D.-F. Feng and R. F. Doolittle, Journal of Molecular Evolution 25 (1987), for the progressive alignment; R. R. Sokal and
// C. D. Michener, University of Kansas Science Bulletin 38 (1958), for means as distances of groups.
#pragma once

#include "tools/structure/folded_tree.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace libprofile::tools {

enum class MergedClass : std::uint8_t {
    Same,    // all processes make the call, equally often
    Differs, // all make it
    NotAll,  // some do not
};

struct MergedNode {
    std::uint64_t key = 0;
    std::uint32_t path = 0; // of one of the processes
    std::uint32_t parent = 0, end = 0;
    std::uint32_t who = 0;             // index of a set of processes
    std::uint64_t least = 0, most = 0; // visits of one of them
    MergedClass kind = MergedClass::Same;
};

struct MergedTree {
    std::vector<MergedNode> nodes;                // as in OrderedTree
    std::vector<std::vector<std::uint32_t>> sets; // processes, ascending
};

class TreeMerger {
  public:
    /// Each process once. The tree is not kept.
    void add(std::uint32_t process, const OrderedTree& tree);
    /// Of all that were added, at least one.
    MergedTree merge() const;

  private:
    struct Group {
        FoldedTree folded;
        std::vector<std::uint32_t> processes;
    };
    std::vector<Group> groups_;
    std::unordered_map<std::uint64_t, std::size_t> group_of_; // by hash of the tree
};

} // namespace libprofile::tools
