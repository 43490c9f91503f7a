#include "tools/analysis/kinds.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/poll_functions.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace libprofile::tools {

namespace {

/// What an iteration does, by metric; the first is its computation in ns.
using Features = std::array<double, metric_count>;

/// Iterations that are told apart by nothing any more: clusters of ranks, joined step by step.
struct Group {
    Features mean = {};
    double size = 0;   // iterations
    double spread = 0; // sum over iterations of the distance to the mean, at least
    std::vector<std::size_t> members;
};

struct RankCluster {
    std::size_t location = 0;
    std::uint32_t cluster = 0;
    std::vector<std::uint32_t> calls; // MPI call paths that it visits, sorted: its structure
    Group group;
};

/// An iteration may be off the mean of its kind by this share of an average iteration, on average.
constexpr double allowed_spread = 0.15;
/// Pairs are compared among so many groups at most; with more, close ones are joined unseen.
constexpr std::size_t most_groups = 1000;

bool is_compared(std::size_t metric) {
    return metric != static_cast<std::size_t>(Metric::Samples) && metric != static_cast<std::size_t>(Metric::TimedTogether) &&
           metric != static_cast<std::size_t>(Metric::RegionTime) && // it has waiting in it
           metric != static_cast<std::size_t>(Metric::RegionOwnTime);
}

RankCluster describe(const Profile& profile, const Cluster& cluster) {
    RankCluster out;
    Features sums = {};
    for (const Cell& cell : cluster.cells) {
        const CallPath& path = profile.paths[cell.path];
        const bool is_event = is_call(path.kind);
        const bool is_polled = is_event && is_poll(profile.functions[path.target].name);
        const bool is_visits = cell.metric == static_cast<std::uint32_t>(Metric::Visits);
        if (is_event && is_visits && !is_polled) out.calls.push_back(cell.path);
        if (cell.metric >= metric_count || !is_compared(cell.metric) || (is_polled && is_visits)) continue;
        if (cell.metric == 0 && category_of(profile, path) != TimeCategory::Compute) continue;
        sums[cell.metric] += static_cast<double>(cell.value);
    }
    std::sort(out.calls.begin(), out.calls.end());
    out.calls.erase(std::unique(out.calls.begin(), out.calls.end()), out.calls.end());
    out.group.size = static_cast<double>(cluster.size);
    for (std::size_t m = 0; m < metric_count; ++m) out.group.mean[m] = sums[m] / out.group.size;
    return out;
}

/// How different two means are: the largest difference of a metric, as a share of its average over all ranks, or of what the
/// two have where that is more. A call more or less counts as much as it is among all calls.
double distance(const Features& a, const Features& b, const Features& average) {
    double largest = 0;
    for (std::size_t m = 0; m < metric_count; ++m) {
        const double scale = std::max(average[m], (a[m] + b[m]) / 2);
        if (scale > 0) largest = std::max(largest, std::abs(a[m] - b[m]) / scale);
    }
    return largest;
}

/// The group that two would be.
Group joined(const Group& a, const Group& b, const Features& average) {
    Group out;
    out.size = a.size + b.size;
    for (std::size_t m = 0; m < metric_count; ++m) out.mean[m] = (a.mean[m] * a.size + b.mean[m] * b.size) / out.size;
    out.spread = a.spread + b.spread + a.size * distance(a.mean, out.mean, average) + b.size * distance(b.mean, out.mean, average);
    return out;
}

void join(Group& to, Group& from, const Features& average) {
    Group both = joined(to, from, average);
    both.members = std::move(to.members);
    both.members.insert(both.members.end(), from.members.begin(), from.members.end());
    to = std::move(both);
    from = {};
}

/// Joins neighbours in the order of computing time that hardly differ, until there are few enough to compare all pairs.
void coarsen(std::vector<Group>& groups, const Features& average) {
    for (double near = 0.01; groups.size() > most_groups; near *= 2) {
        std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.mean < b.mean; });
        std::vector<Group> fewer;
        for (Group& group : groups) {
            if (!fewer.empty() && distance(fewer.back().mean, group.mean, average) <= near)
                join(fewer.back(), group, average);
            else
                fewer.push_back(std::move(group));
        }
        groups = std::move(fewer);
    }
}

/// Joins the two groups that make the least spread, as long as the result's is small. All have the same structure.
void agglomerate(std::vector<Group>& groups, const Features& average) {
    coarsen(groups, average);
    constexpr double apart = std::numeric_limits<double>::infinity();
    const auto cost = [&](std::size_t a, std::size_t b) {
        const Group both = joined(groups[a], groups[b], average);
        // The clusters of a rank say nothing of how far their own iterations are apart, so small ones would join anything.
        const double mean = std::max(both.spread / both.size, distance(groups[a].mean, groups[b].mean, average) / 2);
        return mean <= allowed_spread ? mean : apart;
    };
    std::vector<std::size_t> nearest(groups.size());
    std::vector<double> lowest(groups.size(), apart);
    const auto look = [&](std::size_t a) { // among those after it
        lowest[a] = apart;
        for (std::size_t b = a + 1; b < groups.size(); ++b)
            if (const double c = groups[b].size == 0 ? apart : cost(a, b); c < lowest[a]) lowest[a] = c, nearest[a] = b;
    };
    for (std::size_t a = 0; a < groups.size(); ++a) look(a);
    for (;;) {
        const auto least = std::min_element(lowest.begin(), lowest.end());
        if (least == lowest.end() || *least == apart) break;
        const auto a = static_cast<std::size_t>(least - lowest.begin());
        const std::size_t b = nearest[a];
        join(groups[a], groups[b], average);
        lowest[b] = apart;
        look(a);
        for (std::size_t c = 0; c < groups.size(); ++c) {
            if (groups[c].size == 0 || c == a) continue;
            if (lowest[c] != apart && (nearest[c] == a || nearest[c] == b))
                look(c);
            else if (c < a)
                if (const double now = cost(c, a); now < lowest[c]) lowest[c] = now, nearest[c] = a;
        }
    }
    std::erase_if(groups, [](const Group& group) { return group.size == 0; });
}

std::vector<KindRun> runs_of(const PhaseData& data, const std::vector<std::uint32_t>& kind_of_cluster) {
    std::vector<KindRun> runs;
    for (const std::uint32_t cluster : data.cluster_of_iteration) {
        const std::uint32_t kind = cluster < kind_of_cluster.size() ? kind_of_cluster[cluster] : KindRun::none;
        if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, 0});
        ++runs.back().length;
    }
    return runs;
}

/// What is computed in phases inside the iterations of each cluster.
struct ComputedInside {
    std::vector<double> ns;
    std::vector<bool> is_told; // false if the profile does not say what lies inside
};

ComputedInside computed_inside(const Profile& profile, const Location& location, const PhaseData& data) {
    const WithInside inside = inside_of_clusters(profile, location, data);
    ComputedInside result;
    for (std::size_t c = 0; c < inside.cells.size(); ++c) {
        double ns = 0;
        for (const SelectedCell& cell : inside.cells[c])
            if (cell.metric == 0 && category_of(profile, profile.paths[cell.path]) == TimeCategory::Compute) ns += static_cast<double>(cell.value);
        result.ns.push_back(ns);
        result.is_told.push_back(inside.untold[c] == 0);
    }
    return result;
}

} // namespace

KindsOfPhase match_kinds(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase) {
    std::vector<RankCluster> clusters;
    std::vector<std::vector<double>> times(locations.size()); // wall ns by cluster
    std::vector<ComputedInside> inside(locations.size());
    Features average = {};
    double iterations = 0;
    in_parallel(locations.size(), [&](std::size_t l) {
        if (const PhaseData* data = find_phase(locations[l], phase)) inside[l] = computed_inside(profile, *locations[l], *data);
    });
    for (std::size_t l = 0; l < locations.size(); ++l) {
        const PhaseData* data = find_phase(locations[l], phase);
        if (data == nullptr) continue;
        times[l].assign(data->clusters.size() + 1, 0);
        for (std::size_t i = 0; i < data->iteration_ns.size(); ++i) times[l][data->cluster_of_iteration[i]] += static_cast<double>(data->iteration_ns[i]);
        for (std::uint32_t c = 0; c < data->clusters.size(); ++c) {
            if (data->clusters[c].size == 0) continue;
            clusters.push_back(describe(profile, data->clusters[c]));
            RankCluster& fresh = clusters.back();
            fresh.location = l;
            fresh.cluster = c;
            iterations += fresh.group.size;
            for (std::size_t m = 0; m < metric_count; ++m) average[m] += fresh.group.mean[m] * fresh.group.size;
        }
    }
    for (double& value : average) value = iterations == 0 ? 0 : value / iterations;

    std::map<std::vector<std::uint32_t>, std::vector<Group>> by_structure;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
        Group group = clusters[i].group;
        group.members = {i};
        by_structure[clusters[i].calls].push_back(std::move(group));
    }
    std::vector<Group> kinds;
    for (auto& [calls, groups] : by_structure) {
        agglomerate(groups, average);
        std::move(groups.begin(), groups.end(), std::back_inserter(kinds));
    }
    std::stable_sort(kinds.begin(), kinds.end(), [](const Group& a, const Group& b) {
        return a.size != b.size ? a.size > b.size
                                : *std::min_element(a.members.begin(), a.members.end()) < *std::min_element(b.members.begin(), b.members.end());
    });

    KindsOfPhase result;
    std::vector<std::vector<std::uint32_t>> kind_of(locations.size()); // by location and cluster
    for (std::size_t l = 0; l < locations.size(); ++l) kind_of[l].assign(times[l].empty() ? 0 : times[l].size() - 1, KindRun::none);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        KindOfIteration kind;
        double time = 0, computed = 0;
        bool is_told = true;
        for (const std::size_t i : kinds[k].members) {
            const ComputedInside& here = inside[clusters[i].location];
            computed += here.ns[clusters[i].cluster];
            is_told = is_told && here.is_told[clusters[i].cluster];
            kind.iterations += static_cast<std::uint64_t>(clusters[i].group.size);
            ++kind.clusters;
            time += times[clusters[i].location][clusters[i].cluster];
            kind_of[clusters[i].location][clusters[i].cluster] = static_cast<std::uint32_t>(k);
        }
        kind.mean_time = time / static_cast<double>(kind.iterations);
        if (is_told) kind.compute = kinds[k].mean[0] + computed / static_cast<double>(kind.iterations);
        result.kinds.push_back(kind);
    }
    std::vector<std::vector<double>> walls(kinds.size());
    for (std::uint32_t l = 0; l < locations.size(); ++l) {
        const PhaseData* data = find_phase(locations[l], phase);
        if (data == nullptr || data->cluster_of_iteration.empty()) continue;
        for (std::size_t i = 0; i < data->iteration_ns.size(); ++i)
            if (const std::uint32_t c = data->cluster_of_iteration[i]; c < kind_of[l].size() && kind_of[l][c] != KindRun::none)
                walls[kind_of[l][c]].push_back(static_cast<double>(data->iteration_ns[i]));
        std::vector<KindRun> runs = runs_of(*data, kind_of[l]);
        const auto same = std::find_if(result.sequences.begin(), result.sequences.end(), [&](const KindSequence& s) { return s.runs == runs; });
        if (same != result.sequences.end())
            same->locations.push_back(l);
        else
            result.sequences.push_back({{l}, std::move(runs)});
    }
    for (std::size_t k = 0; k < kinds.size(); ++k) result.kinds[k].times = time_spread(std::move(walls[k]));
    std::stable_sort(result.sequences.begin(), result.sequences.end(),
                     [](const KindSequence& a, const KindSequence& b) { return a.locations.size() > b.locations.size(); });
    result.of_cluster = std::move(kind_of);
    return result;
}

std::string kind_letters(std::uint32_t kind) {
    if (kind == KindRun::none) return "-";
    std::string letters;
    for (std::uint64_t left = std::uint64_t{kind} + 1; left != 0; left = (left - 1) / 26)
        letters.insert(letters.begin(), static_cast<char>('A' + (left - 1) % 26));
    return letters;
}

std::vector<std::string> cluster_names(const PhaseData& data, const std::vector<std::uint32_t>& kind_of_cluster) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> clusters; // by kind
    for (std::uint32_t c = 0; c < kind_of_cluster.size(); ++c) clusters[kind_of_cluster[c]].push_back(c);
    std::vector<std::string> names(kind_of_cluster.size() + 1, "-");
    for (auto& [kind, list] : clusters) {
        std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) { return data.clusters[a].size > data.clusters[b].size; });
        for (std::size_t i = 0; i < list.size(); ++i)
            names[list[i]] = kind_letters(kind) + (list.size() == 1 || kind == KindRun::none ? std::string() : std::to_string(i + 1));
    }
    return names;
}

std::vector<std::vector<std::uint32_t>> kinds_of_clusters(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase) {
    std::vector<std::vector<std::uint32_t>> kinds(locations.size());
    for (const bool is_main : {true, false}) {
        std::vector<const Location*> some;
        for (const Location* location : locations) some.push_back((location->thread == 0) == is_main ? location : nullptr);
        KindsOfPhase found = match_kinds(profile, some, phase);
        for (std::size_t l = 0; l < some.size(); ++l)
            if (some[l] != nullptr) kinds[l] = std::move(found.of_cluster[l]);
    }
    return kinds;
}

} // namespace libprofile::tools
