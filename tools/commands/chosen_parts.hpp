// The parts of a profile that a user chooses on the command line, and where its sources are, as every command that has these options reads them.
// Contract: thread-safe (no state); allocates its results.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/names/source_text.hpp"
#include "tools/structure/iteration_alignment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// The value of --iterations.
/// @throws UsageError when it is no range
IterationRange iterations_option(const std::string& text);

/// The value of --rank.
/// @throws UsageError when it is no list
std::vector<std::uint32_t> ranks_option(const std::string& text);

/// The value of --align; empty: what fits best.
/// @throws UsageError when there is no such way
std::optional<AlignBy> align_option(const std::string& text);

/// The value of --metric: at least one name.
/// @throws UsageError when it has none
std::vector<std::string> metrics_option(const std::string& text);

/// A value of --source-map.
/// @throws UsageError when it is no OLD=NEW
SourceMap source_map_option(const std::string& text);

} // namespace libprofile::tools
