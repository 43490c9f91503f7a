// How the viewer gets the lines of a function.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/function_lines.hpp"
#include "tools/names/source_text.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace libprofile::tools {

/// "function", its "own" and "inclusive" value, their errors, its "samples", and its "files": "name", "note" (empty if all is well), "lines"
/// (number, 0 if unknown, inclusive and own value, samples on the line, calls there and further down, whether it is an estimate, the functions
/// called, the errors of both values) and "text" (pieces: number of the first line, lines). An error is null if it is not known.
/// @param at positions of the value, the samples and the visits among the metrics of the lines
/// @param maps where the source may be; null: without text
nlohmann::ordered_json line_entry(const Profile& profile, const std::string& function, const FunctionLines& found, std::array<std::size_t, 3> at,
                                  const std::vector<SourceMap>* maps);

} // namespace libprofile::tools
