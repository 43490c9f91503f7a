// The parts of a profile that a user chooses on the command line, as every command that has --iterations, --rank and --metric reads them.
// Contract: thread-safe (no state); allocates its results.
#pragma once

#include "tools/analysis/selection.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// The value of --iterations.
/// @throws UsageError when it is no range
IterationRange iterations_option(const std::string& text);

/// The value of --rank.
/// @throws UsageError when it is no list
std::vector<std::uint32_t> ranks_option(const std::string& text);

/// The value of --metric: at least one name.
/// @throws UsageError when it has none
std::vector<std::string> metrics_option(const std::string& text);

} // namespace libprofile::tools
