// Names for a profile that a command has read, as report, view and export show them.
// Contract: one thread; may write a progress line to standard error; throws std::bad_alloc only.
#pragma once

#include "tools/names/resolve.hpp"
#include "tools/reader/model.hpp"

#include <filesystem>

namespace libprofile::tools {

/// Resolves names and inlined functions. A note names each module that was rebuilt since the job ran.
/// @param path what was read: if it is a folder, new names are stored there, and beside a trace the loops of the functions
/// @param whole false if a part of the profile was read: its names must not replace those of the whole
void add_names(Profile& profile, const std::filesystem::path& path, bool whole = true);

/// The same for a profile of a job that runs, which is read several times: nothing is written into its folder.
void add_names(Profile& profile, NameCache& cache);

} // namespace libprofile::tools
