// The regions of a job in the JSON report (docs/json.md).
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <nlohmann/json_fwd.hpp>

namespace libprofile::tools {

/// Regions of all threads; null where the job had none.
nlohmann::ordered_json regions_json(const Profile& profile);

} // namespace libprofile::tools
