#include "tools/analysis/site_calls.hpp"

#include "format/metrics.hpp"
#include "tools/reader/same_module.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

namespace {

bool is_below(const Profile& profile, std::uint32_t path, const FoundLoop& loop, std::uint64_t offset) {
    for (std::uint32_t at = profile.paths[path].parent; at != 0; at = profile.paths[at].parent) {
        const CallPath& outer = profile.paths[at];
        if (outer.kind == NodeKind::Python && loop.is(LoopIsPython) && outer.address == loop.function && outer.target == offset) return true;
        if (outer.kind != NodeKind::Frame || loop.is(LoopIsPython)) continue;
        const Site& site = profile.sites[outer.target];
        if (site.offset == offset && is_same_module(profile.modules[site.module], loop.module)) return true;
    }
    return false;
}

} // namespace

std::vector<SiteCall> calls_at(const Profile& profile, const FoundLoop& loop, std::uint64_t offset, std::uint64_t rank) {
    std::map<std::uint32_t, std::uint64_t> visits; // by path
    const auto add = [&](const std::vector<Cell>& cells) {
        for (const Cell& cell : cells)
            if (cell.metric == static_cast<std::uint32_t>(Metric::Visits) && profile.paths[cell.path].kind == NodeKind::Mpi) visits[cell.path] += cell.value;
    };
    for (const Location& location : profile.locations) {
        if (location.rank != rank || location.thread != 0) continue;
        for (const PhaseData& data : location.phases) {
            if (profile.phases[data.phase].name != loop.phase) continue;
            add(data.rest);
            for (const Cluster& cluster : data.clusters) add(cluster.cells);
        }
    }
    std::vector<SiteCall> calls;
    for (const auto& [path, count] : visits)
        if (is_below(profile, path, loop, offset)) calls.push_back({profile.functions[profile.paths[path].target].name, count});
    return calls;
}

} // namespace libprofile::tools
