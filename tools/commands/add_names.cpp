#include "tools/commands/add_names.hpp"

#include "tools/names/expand_inlined.hpp"
#include "tools/timeseries/trace_analysis.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

/// Those that a trace needs and that are not kept yet. Returns whether there were some.
bool add_loops(Profile& profile) {
    if (!has_trace(profile)) return false;
    bool is_any = false;
    profile.loops.resize(profile.modules.size());
    std::vector<ReadLoops> read = read_missing_loops(profile);
    for (std::size_t m = 0; m < read.size(); ++m) {
        if (read[m].loops.empty()) continue;
        profile.loops[m] = std::move(read[m].loops);
        is_any = true;
    }
    return is_any;
}

bool is_on_terminal() { return ::isatty(STDERR_FILENO) != 0; }

void finish(Profile& profile, const Resolution& resolution) {
    expand_inlined(profile);
    for (const std::string& module : resolution.different)
        profile.notes.push_back(fmt::format("{} was rebuilt since the job ran; its functions have no names here", module));
}

} // namespace

void add_names(Profile& profile, const std::filesystem::path& path, bool whole) {
    const Resolution resolution = resolve_names(profile, is_on_terminal());
    std::error_code error;
    if (whole && std::filesystem::is_directory(path, error)) {
        const bool has_new_loops = add_loops(profile);
        if (resolution.added != 0 || has_new_loops) store_names(profile, path);
    }
    finish(profile, resolution);
}

void add_names(Profile& profile, NameCache& cache) { finish(profile, resolve_names(profile, is_on_terminal(), &cache)); }

} // namespace libprofile::tools
