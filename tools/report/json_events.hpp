// The events of kept iterations in the JSON report (docs/json.md, events[]).
// Contract: thread-safe (no state); throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

/// One entry for each thread that kept events; lists per column, which are half as long as objects.
nlohmann::ordered_json events_json(const Profile& profile);
/// On which nodes the pages lie that tasks depend on, by rank.
nlohmann::ordered_json pages_json(const Profile& profile);

} // namespace libprofile::tools
