// The report as text, for people.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/profile/model.hpp"
#include "tools/text/layout.hpp"

#include <string>

namespace libprofile::tools {

/// @param full_paths call paths show every frame of an interpreter
std::string report_text(const Profile& profile, const TextStyle& style, bool full_paths = false);

} // namespace libprofile::tools
