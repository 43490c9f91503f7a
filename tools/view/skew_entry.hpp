// How far ranks run apart over the iterations, in computing and in what they call, for the page.
// Contract: thread-safe (no state); allocates in proportion to the points; throws std::bad_alloc only.
#pragma once

#include "tools/processes/compared_processes.hpp"
#include "tools/view/sections.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

/// Null if nothing was compared.
/// @param window iterations in a point; of several the one that is furthest apart counts
nlohmann::ordered_json skew_entry(const ComparedProcesses& processes, std::size_t window, Sections& sections);

} // namespace libprofile::tools
