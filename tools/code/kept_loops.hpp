// What a loop nest says of some of a function's instructions, in the form that is kept with names.
// Contract: as LoopNest; the cost is a visit of the function's blocks for each block with such an instruction.
#pragma once

#include "tools/code/loop_nest.hpp"
#include "tools/reader/function_loops.hpp"

#include <span>

namespace libprofile::tools {

struct KeptLoops {
    FunctionLoops function;                  // without lines
    std::vector<std::uint32_t> loop_of_nest; // by loop: its number in the nest
};

/// Of a function that is understood.
/// @param places at least one, by offset, each in one of the function's blocks
KeptLoops kept_loops(const LoopNest& nest, std::vector<FunctionLoops::Place> places);

} // namespace libprofile::tools
