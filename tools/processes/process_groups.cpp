#include "tools/processes/process_groups.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/text/named_choice.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>

namespace libprofile::tools {

namespace {

constexpr std::array level_names = {"pairs", "paths", "visits", "iterations"};

using LevelHashes = std::array<std::uint64_t, structure_levels>;

/// Pairs of caller and callee on the way to events.
std::set<std::uint64_t> pairs_of(const Profile& profile, const EventPaths& events, const EventVisits& visits) {
    std::set<std::uint64_t> pairs;
    std::vector<bool> seen(profile.paths.size());
    for (const EventCount& count : visits)
        if (!events.is_phase(count.event))
            for (std::uint32_t p = count.event; p != 0 && !seen[p]; p = profile.paths[p].parent) {
                seen[p] = true;
                pairs.insert(events.caller_pair(p));
            }
    return pairs;
}

EventVisits visits_of_run(const EventPaths& events, const Location& location) {
    EventVisits visits;
    const auto add = [&](std::span<const Cell> cells) {
        const EventVisits more = events.visits_of(cells);
        visits.insert(visits.end(), more.begin(), more.end());
    };
    for (const PhaseData& data : location.phases) {
        for (const Cluster& cluster : data.clusters) add(cluster.cells);
        add(data.rest);
        if (data.instances != 0) visits.push_back({events.event_of_phase(data.phase), data.instances});
    }
    normalise(visits);
    return visits;
}

std::uint64_t hash_of_pairs(const std::set<std::uint64_t>& pairs) {
    std::uint64_t hash = 0;
    for (const std::uint64_t pair : pairs) hash += mix(pair + golden);
    return hash;
}

/// Groups rows whose hashes up to a level are equal.
std::vector<ProcessGroup> groups_of(const std::vector<LevelHashes>& hashes, std::size_t level, const std::vector<std::uint32_t>& before) {
    std::unordered_map<std::uint64_t, std::size_t> of_hash;
    std::vector<ProcessGroup> groups;
    for (std::size_t row = 0; row < hashes.size(); ++row) {
        std::uint64_t key = 0;
        for (std::size_t l = 0; l <= level; ++l) key = mix(key + golden + hashes[row][l]);
        const auto [at, is_new] = of_hash.try_emplace(key, groups.size());
        if (is_new) groups.push_back({{}, level == 0 ? 0 : before[row]});
        groups[at->second].rows.push_back(static_cast<std::uint32_t>(row));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const ProcessGroup& a, const ProcessGroup& b) { return a.rows.size() > b.rows.size(); });
    return groups;
}

/// Of two sets of visits, the outermost event that counts, and how many do.
template <class Counts> std::optional<StructureParting> first_difference(const Profile& profile, const EventPaths& events, const EventVisits& here,
                                                                         const EventVisits& there, StructureLevel level, Counts counts) {
    std::optional<StructureParting> found;
    std::size_t found_depth = 0;
    std::uint64_t differing = 0;
    const auto depth_of = [&](std::uint32_t event) {
        std::size_t depth = 0;
        for (std::uint32_t p = events.is_phase(event) ? 0 : event; p != 0; p = profile.paths[p].parent) ++depth;
        return depth;
    };
    for_each_event(here, there, [&](std::uint32_t event, std::uint64_t a, std::uint64_t b) {
        if (!counts(event, a, b)) return;
        ++differing;
        const std::size_t depth = depth_of(event);
        const auto difference = [](std::uint64_t x, std::uint64_t y) { return std::max(x, y) - std::min(x, y); };
        if (found && (depth > found_depth || (depth == found_depth && difference(a, b) <= difference(found->here, found->there)))) return;
        found = StructureParting{level, event, a, b, 0, 0, 0};
        found_depth = depth;
    });
    if (found) found->events = differing;
    return found;
}

} // namespace

const char* level_name(StructureLevel level) { return level_names[static_cast<std::size_t>(level)]; }

std::optional<StructureLevel> level_named(std::string_view name) { return named_choice<StructureLevel>(level_names, name); }

std::vector<std::uint32_t> iterated_phases(const Profile& profile, const std::vector<const Location*>& locations) {
    std::vector<bool> has(profile.phases.size());
    for (const Location* location : locations)
        for (const PhaseData& data : location->phases)
            if (!data.cluster_of_iteration.empty()) has[data.phase] = true;
    std::vector<std::uint32_t> phases;
    for (std::uint32_t phase = 0; phase < has.size(); ++phase)
        if (has[phase]) phases.push_back(phase);
    return phases;
}

ProcessGroups group_processes(const Profile& profile, const EventPaths& events, const std::vector<const Location*>& locations,
                              std::optional<std::uint32_t> known_phase, const IterationStructures* known) {
    std::unordered_map<std::uint64_t, std::uint64_t> pairs_of_paths; // hashes: equal sets of paths have equal pairs
    std::mutex adding;
    std::vector<LevelHashes> hashes(locations.size());
    std::atomic<bool> has_unknown = false;
    in_parallel(locations.size(), [&](std::size_t row) {
        const EventVisits visits = visits_of_run(events, *locations[row]);
        LevelHashes& hash = hashes[row];
        hash[1] = hash_of_events(visits);
        hash[2] = hash_of_visits(visits);
        {
            const std::lock_guard lock(adding);
            if (const auto at = pairs_of_paths.find(hash[1]); at != pairs_of_paths.end()) {
                hash[0] = at->second;
                return;
            }
        }
        hash[0] = hash_of_pairs(pairs_of(profile, events, visits));
        const std::lock_guard lock(adding);
        pairs_of_paths.emplace(hash[1], hash[0]);
    });
    for (const std::uint32_t phase : iterated_phases(profile, locations)) {
        std::vector<const Location*> with_phase;
        std::vector<std::size_t> rows;
        for (std::size_t row = 0; row < locations.size(); ++row)
            if (const PhaseData* data = find_phase(locations[row], phase); data != nullptr && !data->cluster_of_iteration.empty()) {
                with_phase.push_back(locations[row]);
                rows.push_back(row);
            }
        const bool is_known = known != nullptr && known_phase == phase && known->of_iteration.size() == rows.size();
        const IterationStructures read = is_known ? IterationStructures() : iteration_structures(events, with_phase, phase);
        const IterationStructures& structures = is_known ? *known : read;
        in_parallel(rows.size(), [&](std::size_t r) {
            std::uint64_t sequence = mix(phase + golden);
            for (const std::uint32_t number : structures.of_iteration[r]) {
                if (number == unknown_structure) has_unknown = true;
                sequence = mix(sequence + golden + structures.hash(number));
            }
            hashes[rows[r]][3] += sequence;
        });
    }
    ProcessGroups result;
    result.are_iterations_known = !has_unknown;
    std::vector<std::uint32_t> before(locations.size());
    for (std::size_t level = 0; level < structure_levels; ++level) {
        result.levels[level] = groups_of(hashes, level, before);
        for (std::size_t g = 0; g < result.levels[level].size(); ++g)
            for (const std::uint32_t row : result.levels[level][g].rows) before[row] = static_cast<std::uint32_t>(g);
    }
    return result;
}

std::optional<StructureParting> where_they_part(const Profile& profile, const EventPaths& events, const Location& here, const Location& there) {
    const EventVisits a = visits_of_run(events, here), b = visits_of_run(events, there);
    const std::set<std::uint64_t> pairs_a = pairs_of(profile, events, a), pairs_b = pairs_of(profile, events, b);
    const auto is_new_pair = [&](std::uint32_t event, std::uint64_t x, std::uint64_t y) {
        if (x != 0 && y != 0) return false;
        if (events.is_phase(event)) return false;
        for (std::uint32_t p = event; p != 0; p = profile.paths[p].parent)
            if (!(x != 0 ? pairs_b : pairs_a).contains(events.caller_pair(p))) return true;
        return false;
    };
    if (auto found = first_difference(profile, events, a, b, StructureLevel::Pairs, is_new_pair)) return found;
    const auto is_alone = [](std::uint32_t, std::uint64_t x, std::uint64_t y) { return x == 0 || y == 0; };
    if (auto found = first_difference(profile, events, a, b, StructureLevel::Paths, is_alone)) return found;
    const auto is_other = [](std::uint32_t, std::uint64_t x, std::uint64_t y) { return x != y; };
    if (auto found = first_difference(profile, events, a, b, StructureLevel::Visits, is_other)) return found;
    for (const std::uint32_t phase : iterated_phases(profile, {&here, &there})) {
        if (find_phase(&here, phase) == nullptr || find_phase(&there, phase) == nullptr) continue;
        const IterationStructures structures = iteration_structures(events, {&here, &there}, phase);
        const std::vector<std::uint32_t>&x = structures.of_iteration[0], &y = structures.of_iteration[1];
        for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
            if (x[i] == y[i] || x[i] == unknown_structure || y[i] == unknown_structure) continue;
            auto found = first_difference(profile, events, structures.list[x[i]].visits, structures.list[y[i]].visits, StructureLevel::Iterations, is_other);
            if (!found) break;
            found->phase = phase;
            found->iteration = i;
            return found;
        }
    }
    return std::nullopt;
}

} // namespace libprofile::tools
