// The data of the page of several runs: the sentences of their comparison, trees with the values of each group side by side, and both runs over time.
// Contract: thread-safe (no state); works on all processors; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/comparison.hpp"
#include "tools/comparison/run.hpp"
#include "tools/view/over_time_entry.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// As page_data() (page_data.hpp) of one profile.
/// @param groups as compare_groups() left them
/// @param served the page tells its server that it is open
std::string comparison_page_data(const Comparison& comparison, const std::vector<RunGroup>& groups, const OverTimeRequest& over_time, bool served);

} // namespace libprofile::tools
