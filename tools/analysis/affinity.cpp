#include "tools/analysis/affinity.hpp"

#include "tools/names/labels.hpp"
#include "tools/reader/counters.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

const ThreadAffinity* main_thread(const RankInfo& info) { return info.affinity ? info.affinity->thread(0) : nullptr; }

std::optional<std::uint32_t> core_of(const RankAffinity& affinity, std::uint32_t processor) {
    const Processor* known = affinity.processor(processor);
    return known == nullptr ? std::nullopt : known->core;
}

/// Ranks that might use the same processors.
struct BindingGroup {
    std::vector<std::uint64_t> ranks;
    std::set<std::uint32_t> cores;
    std::size_t processors = 0;
    bool cores_known = true;
};

void add(BindingGroup& group, std::uint64_t rank, const RankAffinity& affinity, const std::vector<std::uint32_t>& allowed) {
    group.ranks.push_back(rank);
    for (const std::uint32_t processor : allowed) {
        const std::optional<std::uint32_t> core = core_of(affinity, processor);
        group.cores_known = group.cores_known && core;
        group.cores.insert(core.value_or(processor));
    }
}

/// Empty if all can have a core of their own.
std::string crowd_words(const BindingGroup& group, const std::string& host, bool is_whole) {
    if (group.ranks.size() < 2) return "";
    const std::string who = rank_words(group.ranks);
    const std::string where = is_whole ? "" : " by their binding";
    if (group.ranks.size() > group.processors)
        return fmt::format("{} on {} had {} between them{}: they took turns, and waited for each other's time slices", who, printable(host),
                           plural(group.processors, "processor"), where);
    if (group.cores_known && group.ranks.size() > group.cores.size())
        return fmt::format("{} on {} had {} between them{}: some shared the hardware threads of a core", who, printable(host),
                           plural(group.cores.size(), "core"), where);
    return "";
}

} // namespace

std::string machine_key(const RankInfo& info) { return info.affinity->machine.id.empty() ? "host " + info.host : "id " + info.affinity->machine.id; }

std::vector<UsedMachine> used_machines(const Profile& profile) {
    std::vector<UsedMachine> machines;
    std::map<std::string, std::size_t> known;
    for (const auto& [rank, info] : profile.ranks) {
        const ThreadAffinity* thread = main_thread(info);
        if (thread == nullptr) continue;
        const auto [at, added] = known.emplace(machine_key(info), machines.size());
        if (added) machines.push_back({info.host, info.affinity->machine, {}, {}, thread->allowed.size(), thread->allowed.size()});
        UsedMachine& machine = machines[at->second];
        machine.ranks.push_back(rank);
        machine.fewest_allowed = std::min<std::uint64_t>(machine.fewest_allowed, thread->allowed.size());
        machine.most_allowed = std::max<std::uint64_t>(machine.most_allowed, thread->allowed.size());
        UsedCore seen;
        if (thread->last)
            if (const Processor* processor = info.affinity->processor(*thread->last)) {
                seen.core = processor->core;
                seen.numa_node = processor->numa_node;
            }
        const auto same = std::find_if(machine.cores.begin(), machine.cores.end(),
                                       [&](const UsedCore& other) { return other.core == seen.core && other.numa_node == seen.numa_node; });
        UsedCore& core = same == machine.cores.end() ? machine.cores.emplace_back(std::move(seen)) : *same;
        core.ranks.push_back(rank);
    }
    for (UsedMachine& machine : machines)
        std::sort(machine.cores.begin(), machine.cores.end(),
                  [](const UsedCore& a, const UsedCore& b) { return std::pair(a.numa_node, a.core) < std::pair(b.numa_node, b.core); });
    return machines;
}

std::string machine_words(const MachineInfo& info) {
    std::string out = printable(info.model);
    const auto part = [&](std::uint64_t n, const char* what) {
        if (n != 0) out += (out.empty() ? "" : ", ") + plural(n, what);
    };
    part(info.packages, "socket");
    part(info.numa_nodes, "NUMA node");
    part(info.cores, "core");
    part(info.processors, "processor");
    if (info.memory != 0) out += (out.empty() ? "" : ", ") + byte_size(static_cast<double>(info.memory)) + " of memory";
    return out;
}

std::string binding_words(const UsedMachine& machine) {
    if (machine.most_allowed == 0) return "";
    const std::string each = machine.ranks.size() > 1 ? "each rank" : "the rank";
    const std::string of = machine.info.processors == 0 ? "" : fmt::format(" of {}", machine.info.processors);
    if (machine.fewest_allowed != machine.most_allowed)
        return fmt::format("ranks were allowed {} to {} processors{}", machine.fewest_allowed, machine.most_allowed, of);
    if (machine.most_allowed == machine.info.processors)
        return fmt::format("not bound: {} was allowed {}", each,
                           machine.most_allowed == 1 ? "the only processor" : fmt::format("all {} processors", machine.most_allowed));
    return fmt::format("{} was allowed {}{}", each, plural(machine.most_allowed, "processor"), of);
}

std::vector<std::string> affinity_warnings(const Profile& profile) {
    std::vector<std::string> out;
    for (const UsedMachine& machine : used_machines(profile)) {
        BindingGroup whole;
        std::map<std::vector<std::uint32_t>, BindingGroup> groups; // by what they might use
        std::set<std::uint32_t> processors;
        bool all_known = true;
        for (const std::uint64_t rank : machine.ranks) {
            const RankAffinity& affinity = *profile.ranks.at(static_cast<std::uint32_t>(rank)).affinity;
            const std::vector<std::uint32_t>& allowed = affinity.thread(0)->allowed;
            all_known = all_known && !allowed.empty();
            if (allowed.empty()) continue;
            add(whole, rank, affinity, allowed);
            processors.insert(allowed.begin(), allowed.end());
            BindingGroup& group = groups[allowed];
            add(group, rank, affinity, allowed);
            group.processors = allowed.size();
        }
        whole.processors = processors.size();
        // Those with the same binding say more than all together.
        constexpr std::size_t most = 4; // sentences
        std::size_t n = 0;
        for (const auto& [allowed, group] : groups) {
            const std::string sentence = crowd_words(group, machine.host, group.ranks.size() == machine.ranks.size());
            if (!sentence.empty() && n++ < most) out.push_back(sentence);
        }
        const std::string all = n == 0 && all_known ? crowd_words(whole, machine.host, true) : "";
        if (!all.empty()) out.push_back(all);
        if (n > most) out.push_back(fmt::format("and so had {} more groups of ranks on {}", n - most, printable(machine.host)));
    }
    return out;
}

namespace {

/// Its bit in ThreadAffinity::counters; 64: it is none that could be missing.
std::size_t counter_bit(const Profile& profile, std::size_t metric) {
    const std::size_t chosen = chosen_counters(profile.metrics);
    if (metric < metric_count || metric >= metric_count + 2 * chosen) return 64;
    return std::min<std::size_t>((metric - metric_count) % chosen, 64);
}

bool had_bit(const Profile& profile, const RankInfo& info, std::uint32_t number, std::size_t bit) {
    const ThreadAffinity* thread = info.affinity ? info.affinity->thread(number) : nullptr;
    if (thread == nullptr) return true;
    std::string names;
    for (std::size_t i = 0; i < chosen_counters(profile.metrics); ++i) names += (names.empty() ? "" : ",") + profile.metrics[metric_count + i].name;
    return info.affinity->counters != names || (thread->counters >> bit & 1) != 0;
}

} // namespace

bool had_counter(const Profile& profile, std::uint32_t rank, std::uint32_t thread, std::size_t metric) {
    const std::size_t bit = counter_bit(profile, metric);
    const auto info = profile.ranks.find(rank);
    if (bit == 64 || info == profile.ranks.end()) return true;
    return profile.metrics[metric_count + bit].name == "energy" ? had_counter(profile, metric) : had_bit(profile, info->second, thread, bit);
}

bool had_counter(const Profile& profile, std::size_t metric) {
    const std::size_t bit = counter_bit(profile, metric);
    return bit == 64 || profile.ranks.empty() ||
           std::any_of(profile.ranks.begin(), profile.ranks.end(), [&](const auto& rank) { return had_bit(profile, rank.second, 0, bit); });
}

std::vector<std::string> counter_warnings(const Profile& profile) {
    std::string names;
    const std::size_t end = metric_count + chosen_counters(profile.metrics);
    for (std::size_t m = metric_count; m < end; ++m) names += (names.empty() ? "" : ",") + profile.metrics[m].name;
    std::vector<std::string> out;
    std::vector<std::uint64_t> others;
    std::map<std::string, std::vector<std::uint64_t>> without; // ranks, by counter
    for (const auto& [rank, info] : profile.ranks) {
        if (!info.affinity) continue;
        if (info.affinity->counters != names) {
            others.push_back(rank);
            continue;
        }
        const ThreadAffinity* thread = info.affinity->thread(0);
        for (std::size_t m = metric_count; thread != nullptr && m < end; ++m)
            if (m - metric_count < 64 && (thread->counters >> (m - metric_count) & 1) == 0 && profile.metrics[m].name != "energy")
                without[profile.metrics[m].name].push_back(rank);
    }
    if (!others.empty())
        out.push_back(fmt::format("{} had other counters (LIBPROFILE_METRICS) than the job: the meaning of their values is uncertain", rank_words(others)));
    for (const auto& [name, ranks] : without)
        out.push_back(fmt::format("{} could not be counted on {}", printable(name), ranks.size() == profile.ranks.size() ? "any rank" : rank_words(ranks)));
    return out;
}

} // namespace libprofile::tools
