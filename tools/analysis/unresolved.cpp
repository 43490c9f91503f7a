#include "tools/analysis/unresolved.hpp"

#include "tools/names/labels.hpp"
#include "tools/names/symbols.hpp"
#include "tools/text/layout.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>

namespace libprofile::tools {

namespace {

/// The Debian package that has installed a file; empty: none, or another distribution.
std::string package_of(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const std::string real = fs::canonical(path, error).string();
    for (const fs::directory_entry& list : fs::directory_iterator("/var/lib/dpkg/info", error)) {
        if (list.path().extension() != ".list") continue;
        std::ifstream in(list.path());
        for (std::string line; std::getline(in, line);)
            if (line == path || line == real || "/usr" + line == real) // /lib became /usr/lib
                return list.path().stem().string().substr(0, list.path().stem().string().find(':'));
    }
    return "";
}

/// What would bring names.
std::string remedy(const Module& module) {
    if (Symbols(module).state() != ModuleState::Readable)
        return "this machine does not have it, or has another build; run libprofile report once where the job ran";
    const std::string package = package_of(module.path);
    const std::string file = module.build_id.empty() ? "" : fmt::format(", or put its debug file at {}", debug_file_of(module.build_id));
    return package.empty() ? fmt::format("it was stripped; keep its symbols (link without -s, no strip){}", file)
                           : fmt::format("it was stripped; install {}-dbgsym, or set DEBUGINFOD_URLS to your distribution's server", package);
}

} // namespace

std::vector<std::string> unresolved_modules(const Profile& profile, const std::vector<const Location*>& locations) {
    constexpr double much = 0.1;
    double wall = 0;
    std::map<std::uint32_t, double> times; // by module
    for (const Location* location : locations) {
        if (location == nullptr) continue;
        wall += static_cast<double>(location->wall_ns);
        for (const PhaseData& data : location->phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric != 0) return;
                // What a function without a name waits for in MPI is its doing, too.
                const CallPath* path = &profile.paths[cell.path];
                if (is_call(path->kind)) path = &profile.paths[path->parent];
                if (path->kind == NodeKind::Frame && is_unresolved(profile.sites[path->target].name))
                    times[profile.sites[path->target].module] += static_cast<double>(cell.value);
            });
    }
    std::vector<std::string> sentences;
    for (const auto& [module, time] : times)
        if (time > much * wall)
            sentences.push_back(fmt::format("{} of the time is in functions of {} whose names are unknown here: {}", percent(time / wall),
                                            printable(base_name(profile.modules[module].path)), remedy(profile.modules[module])));
    return sentences;
}

} // namespace libprofile::tools
