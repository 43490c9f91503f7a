// A call tree cut into functions that have enough of the time to be compared.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/iteration_sums.hpp"
#include "tools/diagnosis/one_factor.hpp"

#include <vector>

namespace libprofile::tools {

struct TreeCut {
    double here = 0, there = 0;              // ns an iteration: all functions
    std::vector<ComparedFunction> functions; // that add up to nearly all of it
};

/// Each function is taken with all that it calls but what is a function of its own. By call path: one that all others call is longer where one of
/// them has more work, and would hide that.
TreeCut cut_tree(const NamedSpots& names, const IterationSums& here, const IterationSums& there);

} // namespace libprofile::tools
