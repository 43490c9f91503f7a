// The calls of a process, or of an iteration of it, as a call tree whose children stand in the order of the calls.
// Contract: plain data; ordered_tree() and complete_tree() are thread-safe (no state); time and memory in proportion to nodes and call paths;
// no recursion; throw std::bad_alloc only.
//
// Events that follow each other are taken to be in the same activations of the functions that their call paths have in common: when a function was
// left and entered again at the same place, with no event of another path between, is not known of events alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libprofile::tools {

/// Something that happened: a call of MPI, a region.
struct CallEvent {
    std::uint32_t path = 0;
    std::uint64_t count = 1; // so often in a row
    double time = 0;         // of all of them, in whatever unit; without that of events inside
};

struct OrderedNode {
    std::uint64_t key = 0;         // what is called
    std::uint64_t hash = 0;        // of the node and all below it: equal hashes, equal subtrees (of 10^6 different ones two share a hash by a chance of 10^-7)
    std::uint32_t path = 0;        // a call path with which it was called
    std::uint32_t parent = 0;      // of the root: itself
    std::uint32_t end = 0;         // behind the last node of its subtree
    std::uint32_t events : 31 = 0; // in the subtree
    std::uint32_t own : 1 = 0;     // the node is an event itself
};

/// Node 0 is the root. Nodes stand before all that they call, and in the order of the calls.
struct OrderedTree {
    std::vector<OrderedNode> nodes;
    std::vector<double> time; // by node, its own; empty: unknown

    std::vector<std::uint32_t> children(std::uint32_t node) const {
        std::vector<std::uint32_t> list;
        for (std::uint32_t child = node + 1; child < nodes[node].end; child = nodes[child].end) list.push_back(child);
        return list;
    }
};

/// Finds hashes, ends and events of nodes whose other members are set.
void complete_tree(OrderedTree& tree);

/// @param events in the order in which they began
/// @param parent_of_path by call path; path 0 is the root, and parents have smaller numbers than children
/// @param key_of_path what is called, alike in all processes and runs: of names and source files, so that a program that was compiled anew has the same keys
/// @return nothing if the tree would have more than `most_nodes` nodes
std::optional<OrderedTree> ordered_tree(std::span<const CallEvent> events, std::span<const std::uint32_t> parent_of_path,
                                        std::span<const std::uint64_t> key_of_path, std::size_t most_nodes = std::size_t{1} << 24);

} // namespace libprofile::tools
