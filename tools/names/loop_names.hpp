// Names for the phases of loops that were found: "loop in Verlet::run" in the place of "loop at lmp+0x3c1d20".
// Contract: one call at a time per profile, any number of them; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <string>

namespace libprofile::tools {

/// What such names begin with.
inline constexpr const char* loop_name_start = "loop in ";

/// The place in the code, where the profile has it and its function is known; nullptr: not.
const Site* site_of_place(const Profile& profile, const Module& module, std::uint64_t offset);
/// The name that is known for a place in the code; nullptr: none.
const SiteName* name_of_place(const Profile& profile, const Module& module, std::uint64_t offset);

/// "run() at integrate.cpp:84", or "module+0x1234".
std::string place_text(const Profile& profile, const Module& module, std::uint64_t offset);

/// Names the phases of found loops by the names of places that the profile has. Where two would have the same name, the line or the
/// place is added; where no name is known, it stays what the runtime wrote.
void name_loops(Profile& profile);

} // namespace libprofile::tools
