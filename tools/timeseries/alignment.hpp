// Which iterations of two loops are the same if samples have missed some.
// Contract: thread-safe (no state); time in proportion to the iterations and to how many more one loop has; throws
// std::bad_alloc only.
//
// The paper matches iterations by number (section 4.2.1). That goes wrong from the first short iteration on that had a sample in one loop only: on real
// programs most of the run then looked like imbalance. So loops whose iterations with one number are unlike, or that have unequally many, are aligned as
// sequences are (tools/structure/banded_alignment.hpp).
#pragma once

#include "tools/timeseries/time_node.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Of two loops, the cluster of each iteration; rejected_iteration where one has no such iteration, or rejects it.
struct AlignedIterations {
    std::vector<std::uint32_t> a, b; // equally many
};

/// By number, if they are equally many and alike. Else the pairing with the least cost: a pair costs the times of all contexts that only one of
/// them has, an iteration without a partner all its times. Of pairings that cost the same, the one that pairs late iterations.
AlignedIterations aligned(const TimeNode& a, const TimeNode& b);

} // namespace libprofile::tools
