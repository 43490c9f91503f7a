// What is different between groups of runs of one program: how much longer they take, in which functions and call paths, and on which ranks.
// Contract: thread-safe (no state); allocates; throws FrameError with a sentence, std::bad_alloc.
//
// Values are means over ranks and runs. Those of all functions add up to the whole, since times of functions and calls are exclusive.
#pragma once

#include "tools/comparison/group_comparison.hpp"
#include "tools/comparison/run.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

struct Comparison {
    std::string metric, unit;
    bool is_of_time = true;
    std::vector<GroupComparison> groups; // all but the first
    std::vector<std::string> remarks;    // sentences
};

/// Also gives all runs the same nodes.
/// @param groups at least two, none empty
/// @throws FrameError when the runs cannot be compared
Comparison compare_groups(std::vector<RunGroup>& groups, const RunChoice& choice);

} // namespace libprofile::tools
