// What speaks against a found loop, and against the number of its passes: the list is the one truth of how sure it is.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/analysis/loop_of_ranks.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// What the loop itself says: its code, its calls, its passes. What ranks say of each other is added by who knows all loops.
/// @param found without its doubts
std::vector<std::string> doubts_about(const Profile& profile, const LoopOfRanks& found);

} // namespace libprofile::tools
