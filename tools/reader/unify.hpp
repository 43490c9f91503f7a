// Unifies the files of a job into one Profile: modules by build-id or path, functions by name, metrics by name,
// phases by name and kind, call paths by parent and target.
// Contract: thread-safe (no state); allocates in proportion to its input; throws ReadError when no location is left.
#pragma once

#include "tools/reader/decode.hpp"

#include <vector>

namespace libprofile::tools {

/// @param files the decoded files; where two hold the same rank, the first wins
/// @return the profile; its notes name what was lost
/// @throws ReadError when the files hold no location at all
Profile unify(std::vector<RawFile> files);

} // namespace libprofile::tools
