// The picture of the machines for the page.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. docs/view.md tells what the page shows.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/sections.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

/// Null if no machine is known. Machines whose parts would make the page large are left out, and a note says how many.
nlohmann::ordered_json machine_entry(const Profile& profile, Sections& sections);

} // namespace libprofile::tools
