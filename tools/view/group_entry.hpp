// Groups of ranks that do the same, and what they do over the iterations, for the page: sentences, and strips of a bounded number of points.
// Contract: thread-safe (no state); works on all processors; allocates in proportion to ranks and iterations; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/sections.hpp"

#include <nlohmann/json.hpp>
#include <vector>

namespace libprofile::tools {

/// Null if fewer than two ranks made iterations.
/// @param mains a location for each rank; null without data
nlohmann::ordered_json groups_entry(const Profile& profile, const std::vector<const Location*>& mains, Sections& sections);

} // namespace libprofile::tools
