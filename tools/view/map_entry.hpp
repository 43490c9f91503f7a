// How the viewer gets a value map: its description in JSON, its numbers as columns.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/view/sections.hpp"
#include "tools/view/value_map.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

/// @param with_values every value exactly, too
nlohmann::ordered_json map_entry(const MapValues& map, const QuantizedMap& levels, std::size_t iterations, bool with_values, Sections& sections);

/// A column of values plus 1; 0 means no value.
NumberColumn value_column(const std::vector<std::uint64_t>& values);

} // namespace libprofile::tools
