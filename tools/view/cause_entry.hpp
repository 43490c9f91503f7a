// The causes of lost time, for the page: sentences, and which ranks and iterations they are about.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/diagnosis.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace libprofile::tools {

/// @param folder of the profile, for the commands that show more
nlohmann::ordered_json causes_entry(const DiagnosedRun& run, const std::string& folder);

} // namespace libprofile::tools
