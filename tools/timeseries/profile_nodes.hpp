// Profile nodes: what remains of nodes whose order is of no use. Only their durations are kept, summed over all instances.
// Contract: thread-safe (no state); linear in the nodes; throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 3.2.
#pragma once

#include "tools/timeseries/time_node.hpp"

#include <vector>

namespace libprofile::tools {

/// The node and all below it as a profile. Loops inside lose their iterations.
TimeNode profile_of(TimeNode node);

/// Adds a profile node to siblings that are sorted by context.
void add_profile(std::vector<TimeNode>& siblings, TimeNode&& node);

} // namespace libprofile::tools
