// The parallel regions of a job, and the work of their threads, in the JSON report (docs/json.md).
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <nlohmann/json_fwd.hpp>

namespace libprofile::tools {

/// Regions of OpenMP with more than one thread; null where there was none.
nlohmann::ordered_json parallel_regions_json(const Profile& profile);

} // namespace libprofile::tools
