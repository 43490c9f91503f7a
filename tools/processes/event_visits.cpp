#include "tools/processes/event_visits.hpp"

#include "tools/analysis/poll_functions.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <string>

namespace libprofile::tools {

EventPaths::EventPaths(const Profile& profile)
    : first_phase_(profile.paths.size()), is_event_(profile.paths.size() + profile.phases.size(), true), pair_(profile.paths.size()) {
    std::vector<bool> is_chance;
    for (const Function& function : profile.functions) is_chance.push_back(is_poll(function.name));
    std::vector<std::uint64_t> functions(profile.paths.size());
    for (std::size_t p = 0; p < profile.paths.size(); ++p) {
        const CallPath& path = profile.paths[p];
        if (p != 0) {
            const Label label = label_of(profile, path);
            functions[p] = mix(std::hash<std::string>()(label.name) ^ mix(std::hash<std::string>()(label.module) + golden));
            pair_[p] = mix(functions[path.parent] + golden * functions[p]);
        }
        is_event_[p] = counts_for_structure(path.kind) && !(is_call(path.kind) && is_chance[path.target]);
    }
}

EventVisits EventPaths::visits_of(std::span<const Cell> cells) const {
    EventVisits visits;
    for (const Cell& cell : cells)
        if (cell.metric == static_cast<std::uint32_t>(Metric::Visits) && is_event_[cell.path] && cell.value != 0) visits.push_back({cell.path, cell.value});
    normalise(visits);
    return visits;
}

void normalise(EventVisits& visits) {
    const auto before = [](const EventCount& a, const EventCount& b) { return a.event < b.event; };
    if (!std::is_sorted(visits.begin(), visits.end(), before)) std::sort(visits.begin(), visits.end(), before);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        if (kept != 0 && visits[kept - 1].event == visits[i].event)
            visits[kept - 1].visits += visits[i].visits;
        else
            visits[kept++] = visits[i];
    }
    visits.resize(kept);
}

} // namespace libprofile::tools
