// The name that a mistyped one may have meant.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include <string>
#include <vector>

namespace libprofile::tools {

/// The one of `names` that takes the fewest changes of letters to become `name` (upper and lower case alike), or one that `name` is
/// a part of; empty where all are far away. Source: Levenshtein's distance by the algorithm of Wagner and Fischer, J. ACM 21 (1974).
std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

} // namespace libprofile::tools
