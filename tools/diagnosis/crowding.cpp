#include "tools/diagnosis/crowding.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/rank_gains.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

constexpr double works = 0.2; // of a worker's time: with less it is not counted. A main thread waits by spinning, and is

struct Group {
    std::set<std::uint32_t> ranks, processors;
    std::size_t threads = 0;
    std::string host;

    void add(std::uint32_t rank, const std::vector<std::uint32_t>& allowed) {
        ranks.insert(rank);
        processors.insert(allowed.begin(), allowed.end());
        ++threads;
    }
    bool is_crowded() const { return threads > processors.size(); }
    Crowd crowd() const { return {{ranks.begin(), ranks.end()}, host, {processors.begin(), processors.end()}, threads}; }
};

bool does_work(const Profile& profile, const Location& location) {
    return location.thread == 0 || static_cast<double>(computing_of(totals(profile, location))) >= works * static_cast<double>(location.wall_ns);
}

} // namespace

std::vector<Crowd> crowds(const Profile& profile) {
    std::map<std::string, Group> machines;
    std::map<std::pair<std::string, std::vector<std::uint32_t>>, Group> bindings; // by machine and what is allowed
    for (const Location& location : profile.locations) {
        const auto info = profile.ranks.find(location.rank);
        if (info == profile.ranks.end() || !info->second.affinity || !does_work(profile, location)) continue;
        const ThreadAffinity* thread = info->second.affinity->thread(location.thread);
        if (thread == nullptr || thread->allowed.empty()) continue;
        const std::string machine = info->second.affinity->machine.id + info->second.host;
        for (Group* group : {&machines[machine], &bindings[{machine, thread->allowed}]}) {
            group->add(location.rank, thread->allowed);
            group->host = info->second.host;
        }
    }
    std::vector<Crowd> list;
    std::set<std::string> told;
    for (const auto& [key, group] : bindings)
        if (group.is_crowded()) {
            list.push_back(group.crowd());
            told.insert(key.first);
        }
    for (const auto& [machine, group] : machines)
        if (group.is_crowded() && !told.contains(machine)) list.push_back(group.crowd());
    return list;
}

const Crowd* crowd_of(const std::vector<Crowd>& crowds, const std::vector<std::uint32_t>& ranks, const Profile& profile) {
    std::vector<std::uint32_t> wanted = ranks;
    if (wanted.empty())
        for (const auto& [rank, info] : profile.ranks) wanted.push_back(rank);
    const auto has_all = [&](const Crowd& crowd) { return std::includes(crowd.ranks.begin(), crowd.ranks.end(), wanted.begin(), wanted.end()); };
    const auto at = std::find_if(crowds.begin(), crowds.end(), has_all);
    return at == crowds.end() ? nullptr : &*at;
}

std::pair<std::uint32_t, Gain> gain_without_crowd(const Profile& profile, const Crowd& crowd) {
    std::map<std::uint32_t, double> off_cpu;
    double most = 0;
    std::uint32_t rank = 0;
    for (const Location* location : main_threads(profile)) {
        if (location == nullptr || !std::binary_search(crowd.ranks.begin(), crowd.ranks.end(), location->rank)) continue;
        const double ns = static_cast<double>(totals(profile, *location)[static_cast<std::size_t>(CatalogueId::OffCpu)]);
        off_cpu[location->rank] = ns;
        if (ns > most) most = ns, rank = location->rank;
    }
    const double gain = RankGains(profile).of_run(off_cpu).second;
    return {rank, {gain, 0.5 * gain, std::max(gain, most)}};
}

std::string processors_text(const Crowd& crowd) {
    const std::string text = fmt::format("{} of {}", plural(crowd.processors.size(), "processor"), printable(crowd.host));
    return crowd.processors.size() == 1 ? text + fmt::format(" (number {})", crowd.processors[0]) : text;
}

} // namespace libprofile::tools
