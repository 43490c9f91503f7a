// "call_paths" of a phase (docs/json.md).
// Contract: thread-safe (no state); throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <nlohmann/json_fwd.hpp>

namespace libprofile::tools {

/// The call paths that occur in a phase and their ancestors, with exclusive values per location.
/// @param locations null where there are no data
nlohmann::ordered_json call_paths_json(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase);

} // namespace libprofile::tools
