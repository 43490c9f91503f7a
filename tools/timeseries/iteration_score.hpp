// How well the iterations that samples show agree with those that the profile knows.
// Contract: thread-safe; builds the thread's tree anew; throws std::bad_alloc only.
//
// Source: the evaluation of Wei and Mellor-Crummey (ICS 2018), Tables 4 and 7.
#pragma once

#include "tools/timeseries/thread_tree.hpp"

#include <vector>

namespace libprofile::tools {

struct IterationScore {
    ContextId loop = 0;         // of the code, that the known one replaces
    ContextId known = 0;        // the known one
    std::uint64_t actual = 0;   // iterations that the profile knows
    std::uint64_t accepted = 0; // identifiers
    std::uint64_t rejected = 0;
    std::uint64_t hits = 0; // accepted ones that begin at most a period from the begin of a known iteration
};

/// One for each known loop that replaces a loop of the code. Others have nothing to compare with.
std::vector<IterationScore> iteration_scores(const Trace& trace, const Contexts& contexts, const KnownLoops& known, const FlowOrder& order,
                                             const TimeSeriesParameters& parameters);

} // namespace libprofile::tools
