// Frames with fewer nodes.
// Contract: thread-safe (no state); allocates; throws FrameError, std::bad_alloc.
#pragma once

#include "tools/frames/call_graph.hpp"
#include "tools/frames/frame.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

/// Keeps the nodes that are chosen, and the program. Those below a node that is left out go to the nearest one above that stays; values of
/// nodes that are left out are left out, too.
/// @param keep by node
Frame filtered(const Frame& frame, const std::vector<bool>& keep);

/// One node and all below it: the node becomes the root.
/// @throws FrameError when there is no such node
Frame subtree(const Frame& frame, std::uint32_t node);

/// What these ranks measured.
/// @param ranks sorted
/// @throws FrameError when one of them is not there
Frame at_ranks(const Frame& frame, std::span<const std::uint32_t> ranks);

/// Functions only: lines and loops, and several nodes of one function below one caller, become one node, whose line is the one with most of the
/// first metric.
Frame by_function(const Frame& frame);

/// The functions side by side below the program, each with the values of all its nodes.
Frame flattened(const Frame& frame, GroupBy by);

} // namespace libprofile::tools
