#include "tools/analysis/sample_strata.hpp"

#include "tools/analysis/cell_groups.hpp"
#include "tools/analysis/sampling_error.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

bool is_sampled(const Profile& profile, const Cell& cell) {
    if (cell.metric != 0 || cell.value == 0) return false;
    const CallPath& path = profile.paths[cell.path];
    return path.kind != NodeKind::Root && path.kind != NodeKind::Quota && path.kind != NodeKind::NotSampled &&
           category_of(profile, path) == TimeCategory::Compute;
}

using PathTimes = std::vector<std::pair<std::uint32_t, double>>;

/// The call paths that a pool's samples hit, over all its clusters.
std::vector<PathTimes> times_of_pools(const Profile& profile, const PhaseData& data) {
    std::vector<PathTimes> pools(data.pools.size());
    for (std::size_t c = 0; c < data.pool_of_cluster.size() && c <= data.clusters.size(); ++c) {
        if (data.pool_of_cluster[c] >= pools.size()) continue;
        for (const Cell& cell : c < data.clusters.size() ? data.clusters[c].cells : data.rest)
            if (is_sampled(profile, cell)) pools[data.pool_of_cluster[c]].emplace_back(cell.path, static_cast<double>(cell.value));
    }
    for (PathTimes& pool : pools) {
        std::stable_sort(pool.begin(), pool.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::size_t end = 0;
        for (const auto& time : pool)
            if (end != 0 && pool[end - 1].first == time.first)
                pool[end - 1].second += time.second;
            else
                pool[end++] = time;
        pool.resize(end);
    }
    return pools;
}

/// The iterations of a pool, their exact computing time and how much they differ; and those that are selected.
struct PoolTimes {
    double iterations = 0, ns = 0;
    double variance = 0;  // of the times of single iterations
    bool is_known = true; // the variance, from enough iterations
    double selected = 0, selected_ns = 0;
};

/// What is added to the sum of squares because the selected iterations may be unlike the others of the pool.
double squares_of_difference(const SamplePool& pool, const PoolTimes& times) {
    if (times.selected >= times.iterations) return 0;
    // Nothing says that iterations of different structure do the same.
    if (pool.is_mixed) return std::pow(times.selected_ns * (1 - times.selected_ns / times.ns), 2);
    const double mean = times.ns / times.iterations;
    const double by_chance = times.selected * times.variance * (1 - times.selected / times.iterations); // W. G. Cochran (1977), theorem 2.2
    // Iterations that were not drawn at random, such as the slow ones: all of what they take longer may be of one function. What chance may do,
    // two standard deviations, is left out of the square, so that the error does not jump where a time is rounded.
    const double difference = std::pow(times.selected_ns - times.selected * mean, 2);
    return times.is_known ? by_chance + std::max(0.0, difference - 4 * by_chance) : std::max(difference, by_chance);
}

/// How the computing times of iterations vary, pool by pool, and the sums of those that are selected.
class PoolSpread {
  public:
    /// @param pools what their samples hit
    PoolSpread(const PhaseData& data, const std::vector<PathTimes>& pools) : data_(data), all_(data.pools.size()), seen_(data.pools.size()) {
        for (std::size_t c = 0; c < data.pool_of_cluster.size(); ++c)
            if (const std::uint32_t pool = data.pool_of_cluster[c]; pool < all_.size())
                all_[pool].iterations += static_cast<double>(c < data.clusters.size() ? data.clusters[c].size : data.unclustered);
        for (std::size_t p = 0; p < all_.size() && data.series; ++p)
            for (const auto& [path, ns] : pools[p]) all_[p].ns += ns;
        // Without values of single iterations their wall times bound how they differ.
        for (std::size_t i = 0; i < data.iteration_ns.size() && !data.series; ++i)
            if (const std::uint32_t pool = pool_of(i); pool < all_.size()) all_[pool].ns += static_cast<double>(data.iteration_ns[i]);
    }

    std::uint32_t pool_of(std::size_t iteration) const {
        if (iteration >= data_.cluster_of_iteration.size()) return static_cast<std::uint32_t>(all_.size());
        const std::size_t cluster = std::min<std::size_t>(data_.cluster_of_iteration[iteration], data_.clusters.size());
        return cluster < data_.pool_of_cluster.size() ? data_.pool_of_cluster[cluster] : static_cast<std::uint32_t>(all_.size()); // a file without pools
    }
    double mean(std::uint32_t pool) const { return all_[pool].iterations == 0 ? 0 : all_[pool].ns / all_[pool].iterations; }
    /// B. P. Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 4 (1962).
    void see(std::uint32_t pool, double ns, bool is_selected) {
        Seen& seen = seen_[pool];
        const double before = ns - seen.mean;
        seen.mean += before / ++seen.iterations;
        seen.squares += before * (ns - seen.mean);
        if (!is_selected) return;
        all_[pool].selected += 1;
        all_[pool].selected_ns += ns;
    }

    std::vector<PoolTimes> times() const {
        constexpr double enough = 10;
        std::vector<PoolTimes> times = all_;
        for (std::size_t p = 0; p < times.size(); ++p) {
            times[p].variance = seen_[p].iterations < 2 ? 0 : seen_[p].squares / (seen_[p].iterations - 1);
            times[p].is_known = seen_[p].iterations >= enough;
        }
        return times;
    }

  private:
    struct Seen {
        double iterations = 0, mean = 0, squares = 0;
    };
    const PhaseData& data_;
    std::vector<PoolTimes> all_;
    std::vector<Seen> seen_;
};

/// Calls give(iteration, pool, ns) for the iterations from `first` to before `end` that are in a pool.
template <class Give> void for_each_time(const PhaseData& data, const PoolSpread& spread, std::uint64_t first, std::uint64_t end, Give give) {
    std::optional<SeriesReader> reader;
    if (data.series) reader.emplace(*data.series, false);
    for (std::uint64_t i = reader ? reader->skip_before(first) : first; i < end; ++i) {
        const bool read = reader && reader->next();
        const std::uint32_t pool = spread.pool_of(i);
        if (i < first || pool >= data.pools.size()) continue;
        double ns = reader || i >= data.iteration_ns.size() ? spread.mean(pool) : static_cast<double>(data.iteration_ns[i]);
        if (read && reader->has_totals()) {
            std::uint64_t sums[group_count] = {};
            add_groups(reader->condensed(), sums);
            ns = static_cast<double>(sums[static_cast<std::size_t>(TimeCategory::Compute)]);
        }
        give(i, pool, ns);
    }
}

/// @param pools what their samples hit  @param times by pool
SampledSelection selection_of(const PhaseData& data, const std::vector<PathTimes>& pools, const std::vector<PoolTimes>& times) {
    SampledSelection result;
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
        const double samples = std::max(1.0, data.pools[p].samples);
        result.strata.push_back({selected, selected * selected / samples + unit * unit * squares_of_difference(data.pools[p], times[p])});
        for (const auto& [path, ns] : pools[p]) result.parts.push_back({path, p, ns * share});
    }
    return result;
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
    const PoolTimes whole{1, 1, 0, true, 1, 1};
    return selection_of(data, times_of_pools(profile, data), std::vector<PoolTimes>(data.pools.size(), whole));
}

SampledSelection sampled_selection(const Profile& profile, const PhaseData& data, std::span<const IterationRange> ranges) {
    const std::uint64_t iterations = data.cluster_of_iteration.size();
    // A phase without iterations is chosen as a whole.
    if (ranges.size() == 1 && ranges[0].first == 0 && ranges[0].last >= iterations - std::min<std::uint64_t>(iterations, 1))
        return sampled_selection(profile, data);
    const std::vector<PathTimes> pools = times_of_pools(profile, data);
    PoolSpread spread(data, pools);
    const std::uint64_t first = ranges.empty() ? iterations : ranges.front().first - std::min(ranges.front().first, iterations_around);
    const bool is_late = ranges.empty() || ranges.back().last >= iterations - std::min(iterations, iterations_around + 1);
    const std::uint64_t end = is_late ? iterations : ranges.back().last + 1 + iterations_around;
    std::size_t r = 0;
    for_each_time(data, spread, first, end, [&](std::uint64_t i, std::uint32_t pool, double ns) {
        while (r < ranges.size() && ranges[r].last < i) ++r;
        spread.see(pool, ns, r < ranges.size() && i >= ranges[r].first);
    });
    return selection_of(data, pools, spread.times());
}

IterationTimes compared_times(const Profile& profile, const PhaseData& data) {
    const PoolSpread spread(data, times_of_pools(profile, data));
    IterationTimes times{std::vector<double>(data.cluster_of_iteration.size()), !data.series};
    for_each_time(data, spread, 0, times.ns.size(), [&](std::uint64_t i, std::uint32_t, double ns) { times.ns[i] = ns; });
    return times;
}

double sampling_error(const SampledParts& parts, const std::vector<SampleStratum>& all) {
    double part = 0, whole = 0;
    for (const SampleStratum& stratum : all) whole += stratum.ns;
    for (const auto& [stratum, ns] : parts) part += ns;
    if (part >= whole * (1 - 1e-12)) return 0; // sums of the same numbers in another order
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

double error_of_difference(const SampledParts& a, const SampledParts& b, const std::vector<SampleStratum>& all) {
    SampledParts sum = a;
    add_parts(sum, b);
    // The variances of the sum and of the difference are together twice those of both.
    const double both = 2 * (std::pow(sampling_error(a, all), 2) + std::pow(sampling_error(b, all), 2));
    return std::sqrt(std::max(0.0, both - std::pow(sampling_error(sum, all), 2)));
}

} // namespace libprofile::tools
