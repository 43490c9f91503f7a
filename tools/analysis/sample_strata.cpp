#include "tools/analysis/sample_strata.hpp"

#include "tools/analysis/cell_groups.hpp"
#include "tools/analysis/sampling_error.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

namespace {

bool is_sampled(const Profile& profile, const Cell& cell) {
    if (cell.metric != 0 || cell.value == 0) return false;
    const CallPath& path = profile.paths[cell.path];
    return path.kind != NodeKind::Root && path.kind != NodeKind::Quota && path.kind != NodeKind::NotSampled &&
           category_of(profile, path) == TimeCategory::Compute;
}

/// The cells that a pool's samples hit, over all its clusters.
std::vector<std::map<std::uint32_t, double>> times_of_pools(const Profile& profile, const PhaseData& data) {
    std::vector<std::map<std::uint32_t, double>> pools(data.pools.size());
    for (std::size_t c = 0; c < data.pool_of_cluster.size() && c <= data.clusters.size(); ++c) {
        if (data.pool_of_cluster[c] >= pools.size()) continue;
        for (const Cell& cell : c < data.clusters.size() ? data.clusters[c].cells : data.rest)
            if (is_sampled(profile, cell)) pools[data.pool_of_cluster[c]][cell.path] += static_cast<double>(cell.value);
    }
    return pools;
}

/// What is added to the sum of squares because the selected iterations may be unlike the others of the pool.
double squares_of_difference(const SamplePool& pool, const PoolTimes& times) {
    if (times.selected >= times.iterations) return 0;
    // Nothing says that iterations of different structure do the same.
    if (pool.is_mixed) return std::pow(times.selected_ns * (1 - times.selected_ns / times.ns), 2);
    const double mean = times.ns / times.iterations;
    const double variance = times.iterations < 2 ? 0 : std::max(0.0, (times.squares - times.ns * mean) / (times.iterations - 1));
    const double by_chance = times.selected * variance * (1 - times.selected / times.iterations); // W. G. Cochran (1977), theorem 2.2
    // Iterations that were not drawn at random, such as the slow ones: all of what they take longer may be of one function.
    const double difference = std::pow(times.selected_ns - times.selected * mean, 2);
    return difference > 4 * by_chance ? difference : by_chance;
}

/// ns by iteration.
std::vector<std::uint64_t> computing_times(const PhaseData& data) {
    // Without values of single iterations their wall times bound how they differ.
    std::vector<std::uint64_t> times = data.iteration_ns;
    if (!data.series) return times;
    SeriesReader reader(*data.series, false);
    for (std::size_t i = 0; i < times.size() && reader.next(); ++i) {
        if (!reader.has_totals()) continue;
        std::uint64_t groups[group_count] = {};
        add_groups(reader.condensed(), groups);
        times[i] = groups[static_cast<std::size_t>(TimeCategory::Compute)];
    }
    return times;
}

} // namespace

void add_part(SampledParts& parts, std::uint32_t stratum, double ns) {
    const auto at = std::lower_bound(parts.begin(), parts.end(), stratum, [](const auto& part, std::uint32_t wanted) { return part.first < wanted; });
    if (at != parts.end() && at->first == stratum)
        at->second += ns;
    else
        parts.emplace(at, stratum, ns);
}

void add_parts(SampledParts& parts, const SampledParts& more) {
    if (parts.empty()) {
        parts = more;
        return;
    }
    for (const auto& [stratum, ns] : more) add_part(parts, stratum, ns);
}

SampledSelection sampled_selection(const Profile& profile, const PhaseData& data) {
    const PoolTimes whole{1, 1, 1, 1, 1};
    return sampled_selection(profile, data, std::vector<PoolTimes>(data.pools.size(), whole));
}

SampledSelection sampled_selection(const Profile& profile, const PhaseData& data, std::span<const PoolTimes> times) {
    SampledSelection result;
    const std::vector<std::map<std::uint32_t, double>> pools = times_of_pools(profile, data);
    for (std::uint32_t p = 0; p < pools.size(); ++p) {
        double computing = 0;
        for (const auto& [path, ns] : pools[p]) computing += ns;
        const double share = times[p].ns == 0 ? 0 : times[p].selected_ns / times[p].ns;
        if (share == 0) {
            result.strata.emplace_back();
            continue;
        }
        const double selected = computing * share, unit = computing / times[p].ns;
        // A damaged file may have no number of samples.
        const double samples = std::max<double>(1, static_cast<double>(data.pools[p].samples));
        result.strata.push_back({selected, selected * selected / samples + unit * unit * squares_of_difference(data.pools[p], times[p])});
        for (const auto& [path, ns] : pools[p]) result.parts.push_back({path, p, ns * share});
    }
    return result;
}

std::vector<SampledSelection> sampled_selections(const Profile& profile, const PhaseData& data, std::span<const IterationRange> ranges,
                                                 std::span<const std::size_t> group_of, std::size_t groups) {
    const std::uint64_t iterations = data.cluster_of_iteration.size();
    if (ranges.size() == 1 && ranges[0].first == 0 && ranges[0].last >= iterations - 1 && iterations != 0) {
        std::vector<SampledSelection> whole(groups);
        whole[group_of[0]] = sampled_selection(profile, data);
        return whole;
    }
    std::vector<PoolTimes> all(data.pools.size());
    std::vector<std::vector<PoolTimes>> of_group(groups, all);
    const std::vector<std::uint64_t> times = data.pools.empty() ? std::vector<std::uint64_t>() : computing_times(data);
    std::size_t r = 0;
    for (std::uint64_t i = 0; i < times.size() && i < data.cluster_of_iteration.size(); ++i) {
        const std::uint32_t pool = data.pool_of_cluster[std::min<std::size_t>(data.cluster_of_iteration[i], data.clusters.size())];
        while (r < ranges.size() && ranges[r].last < i) ++r;
        if (pool >= all.size()) continue;
        const auto ns = static_cast<double>(times[i]);
        all[pool].iterations += 1;
        all[pool].ns += ns;
        all[pool].squares += ns * ns;
        if (r == ranges.size() || i < ranges[r].first) continue;
        of_group[group_of[r]][pool].selected += 1;
        of_group[group_of[r]][pool].selected_ns += ns;
    }
    std::vector<SampledSelection> result;
    for (std::vector<PoolTimes>& group : of_group) {
        for (std::size_t p = 0; p < group.size(); ++p) {
            group[p].iterations = all[p].iterations;
            group[p].ns = all[p].ns;
            group[p].squares = all[p].squares;
        }
        result.push_back(sampled_selection(profile, data, group));
    }
    return result;
}

double sampling_error(const SampledParts& parts, const std::vector<SampleStratum>& all) {
    double part = 0, whole = 0;
    for (const SampleStratum& stratum : all) whole += stratum.ns;
    for (const auto& [stratum, ns] : parts) part += ns;
    if (part >= whole) return 0;
    // A stratum of few samples tells little of its variance. So each gets some samples with the share of the whole.
    constexpr double added = 2;
    const double share = part / whole;
    double variance = 0;
    auto at = parts.begin();
    for (std::uint32_t s = 0; s < all.size(); ++s) {
        const double here = at != parts.end() && at->first == s ? (at++)->second : 0;
        const double samples = all[s].samples();
        if (samples == 0) continue;
        const double p = std::min(1.0, (samples * here / all[s].ns + added * share) / (samples + added));
        variance += all[s].squares * p * (1 - p);
    }
    double fewest = 0; // of a share of nothing the variance says nothing
    for (const SampleStratum& stratum : all) fewest += stratum.squares;
    const double samples = share == 0 || variance == 0 ? whole * whole / fewest : share * (1 - share) * whole * whole / variance;
    return sampling_error(part, whole, samples);
}

} // namespace libprofile::tools
