// Functions instead of call paths: who calls whom, with values summed over all contexts.
// Contract: thread-safe (no state); allocates its results; throws FrameError, std::bad_alloc.
// Source: Cankur et al., "Chopper" (section 4.1, to_callgraph). There inclusive values of recursive calls are added up several times;
// here a function's inclusive value counts each of its outermost calls once.
#pragma once

#include "tools/frames/frame.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// What nodes have in common that are one function.
enum class GroupBy : std::uint8_t { Name, Function, File, Module }; // Function: name, file and module

/// The groups of nodes.
struct NodeGroups {
    std::vector<std::uint32_t> group_of; // by node
    std::vector<std::uint32_t> first;    // by group: its first node; groups are numbered in the order of these
};

NodeGroups group_nodes(const Frame& frame, GroupBy by);

/// By node: no node above it belongs to its group.
std::vector<bool> outermost_nodes(const Frame& frame, const NodeGroups& groups);

struct CallGraph {
    NodeGroups groups;
    std::vector<double> exclusive, inclusive;  // by group: over all places
    std::vector<std::uint32_t> caller, callee; // by edge: groups; sorted
    std::vector<double> edge;                  // by edge: the callee's inclusive value there, calls inside calls by the same edge not counted
};

/// @throws FrameError when the frame has no such metric
CallGraph call_graph(const Frame& frame, std::string_view metric, GroupBy by);

} // namespace libprofile::tools
