// Runs compared over time, for the page of several runs: the sentences of `compare --over-time`, curves of a bounded number of points, and segments.
// Contract: thread-safe (no state); works on all processors; allocates in proportion to the iterations; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/over_time.hpp"
#include "tools/view/sections.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

struct OverTimeRequest {
    const std::vector<ProfiledGroup>* groups = nullptr; // null: nothing is compared
    std::string absent;                                 // why; a sentence without a full stop
    RunChoice choice;                                   // of time
    std::optional<AlignBy> forced;
};

/// Where runs cannot be compared over time, a sentence says why. One of several that cannot does not hide the others.
nlohmann::ordered_json over_time_entry(const OverTimeRequest& request, Sections& sections);

} // namespace libprofile::tools
