// Unresolved modules: programs and libraries whose functions have no names, with much of the time.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/reader/model.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// A sentence for each module that has over a tenth of the time in such functions, or in MPI calls of theirs.
/// @param locations main threads (null for a rank without data)
std::vector<std::string> unresolved_modules(const Profile& profile, const std::vector<const Location*>& locations);

} // namespace libprofile::tools
