// The report as text, for people.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/text/layout.hpp"

#include <string>

namespace libprofile::tools {

/// The first screen has the findings; the details follow.
/// @param full_paths call paths show every frame of an interpreter
/// @param path the profile's folder, for the commands that are proposed; FOLDER if empty
std::string report_text(const Profile& profile, const TextStyle& style, bool full_paths = false, const std::string& path = "");

} // namespace libprofile::tools
