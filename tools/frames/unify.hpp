// One call tree for several runs: the same call paths of different builds get the same node.
// Contract: thread-safe (no state); allocates; throws FrameError, std::bad_alloc.
//
// Call paths are matched from the program downwards. Below matched callers, functions are the same if their names are (without what
// compilers append), preferably of the same file and module. A caller that only one run has, because the other one's compiler made a
// tail call of it or lost it while inlining, is passed over, once between two matched nodes. A function without a counterpart is taken
// to be renamed if it is the only one there, and calls mostly the same functions, or is in the same file; and if neither name is met in
// both runs.
#pragma once

#include "tools/frames/frame.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Two functions that were taken for one.
struct Renamed {
    std::size_t run = 0; // that calls it `to`
    std::string from, to;
};

/// What was matched, for each run.
struct Unified {
    std::vector<std::vector<std::uint32_t>> node_of; // by run, by its old node: the common node
    std::vector<Renamed> renamed;
};

/// Gives all frames the same nodes: those of the first, then what the others have besides. Values stay those of each run; of several
/// nodes that became one they are added.
Unified unify(std::vector<Frame>& frames);

/// Moves the values of a frame to other nodes.
/// @param node_of by node of the frame: its number in `nodes`
void move_values(Frame& frame, const std::vector<std::uint32_t>& node_of);

} // namespace libprofile::tools
