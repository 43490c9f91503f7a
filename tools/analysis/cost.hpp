// What libprofile took itself: time, memory, files, samples that were lost.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/finding.hpp"
#include "tools/reader/model.hpp"

namespace libprofile::tools {

/// The part of the time of `locations`, main threads (null for a rank without data), and of the ranks' end, that libprofile took itself.
double own_share(const Profile& profile, const std::vector<const Location*>& locations);

/// The answer with the key "cost".
/// @param locations main threads (null for a rank without data)
Finding what_it_cost(const Profile& profile, const std::vector<const Location*>& locations);

} // namespace libprofile::tools
