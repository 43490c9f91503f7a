// What libprofile took itself: time, memory, files, samples that were lost.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/finding.hpp"
#include "tools/reader/model.hpp"

namespace libprofile::tools {

/// The answer with the key "cost".
/// @param locations main threads (null for a rank without data)
Finding what_it_cost(const Profile& profile, const std::vector<const Location*>& locations);

} // namespace libprofile::tools
