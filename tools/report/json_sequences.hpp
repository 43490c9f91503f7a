// The order of events in iterations, in JSON.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <nlohmann/json_fwd.hpp>

namespace libprofile::tools {

/// Of one phase on one location. `with_timelines`: also each sequence with its timeline, and the sequence of each iteration.
nlohmann::ordered_json sequences_json(const Profile& profile, const PhaseData& data, bool with_timelines);

} // namespace libprofile::tools
