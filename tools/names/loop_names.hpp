// Names for the phases of loops that were found: "loop in Verlet::run" instead of "loop at lmp+0x3c1d20".
// Contract: one call at a time per profile, any number of them; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <string>

namespace libprofile::tools {

/// What such names begin with.
inline constexpr const char* loop_name_start = "loop in ";

/// The site of a module's offset; nullptr if the profile does not have it, or its function is unknown.
const Site* site_at(const Profile& profile, const Module& module, std::uint64_t offset);

/// Of a loop's function, a call site, by its offset: "run() at integrate.cpp:84", or "module+0x1234".
std::string site_text(const Profile& profile, const FoundLoop& loop, std::uint64_t offset);
/// "module+0x1234", or "script.py:84".
std::string place_text(const FoundLoop& loop, std::uint64_t offset);

/// Names the phases of found loops by the names of their call sites. Where two would have the same name, the line or the
/// address is added; without a known name, it stays what the runtime wrote.
void name_loops(Profile& profile);

} // namespace libprofile::tools
