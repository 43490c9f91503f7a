#include "tools/analysis/nameless.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"

#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

std::vector<std::string> nameless_modules(const Profile& profile, const std::vector<const Location*>& locations) {
    constexpr double much = 0.1;
    double wall = 0;
    std::map<std::uint32_t, double> times; // by module
    for (const Location* location : locations) {
        if (location == nullptr)
            continue;
        wall += static_cast<double>(location->wall_ns);
        for (const PhaseData& data : location->phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric != 0)
                    return;
                // What a function without a name waits for in MPI is its doing, too.
                const CallPath* path = &profile.paths[cell.path];
                if (is_call(path->kind))
                    path = &profile.paths[path->parent];
                if (path->kind == NodeKind::Frame && profile.sites[path->target].name.function.empty())
                    times[profile.sites[path->target].module] += static_cast<double>(cell.value);
            });
    }
    std::vector<std::string> sentences;
    for (const auto& [module, time] : times)
        if (time > much * wall)
            sentences.push_back(fmt::format("functions of {} have no names here, and it has {} of the time: it was stripped, or is not on this "
                                            "machine; install its debug symbols or compile it with -g",
                                            printable(base_name(profile.modules[module].path)), percent(time / wall)));
    return sentences;
}

} // namespace libprofile::tools
