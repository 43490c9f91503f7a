// Gives names to the sites of a profile and to the phases of found loops, and keeps them in the profile's folder, which can then be moved.
// Contract: one call at a time per profile; allocates; failures are answers, nothing throws but std::bad_alloc.
#pragma once

#include "tools/names/symbols.hpp"
#include "tools/reader/model.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// What resolving did.
struct Resolution {
    std::size_t added = 0;              // sites that have a better name now
    std::vector<std::string> different; // modules on disk that are another build than the one that ran
};

/// What was looked up in modules, for a job that is read again while it runs.
struct NameCache {
    struct KnownModule {
        ModuleState state = ModuleState::Missing;
        std::map<std::uint64_t, SourceCode> sites; // by offset
    };
    std::map<std::pair<std::string, std::string>, KnownModule> modules; // by build-id and path
};

/// Looks up what has no line yet in the modules on disk. Names that were stored earlier stay where nothing better is
/// found.
/// @param progress may write a progress line to standard error when it takes over a second
/// @param cache knows what was looked up before, and learns the rest; null for none
Resolution resolve_names(Profile& profile, bool progress, NameCache* cache = nullptr);

/// The bytes of names.lprof: a file with a block of names, and one of loops if the profile has some.
std::vector<unsigned char> encode_names(const Profile& profile);

/// Writes names.lprof under a temporary name and renames it. Where the folder is not writable nothing happens.
/// @return whether it was written
bool store_names(const Profile& profile, const std::filesystem::path& folder);

} // namespace libprofile::tools
