#include "tools/commands/add_names.hpp"

#include "tools/names/expand_inlined.hpp"
#include "tools/names/resolve.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace libprofile::tools {

void add_names(Profile& profile, const std::filesystem::path& path, bool whole) {
    const Resolution resolution = resolve_names(profile, ::isatty(STDERR_FILENO) != 0);
    std::error_code error;
    if (resolution.added != 0 && whole && std::filesystem::is_directory(path, error)) store_names(profile, path);
    expand_inlined(profile);
    for (const std::string& module : resolution.different)
        profile.notes.push_back(fmt::format("{} was rebuilt since the job ran; its functions have no names here", module));
}

} // namespace libprofile::tools
