#include "tools/analysis/iterations.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libprofile::tools {

namespace {

/// As spread_of().median. Changes the order of the values, of which there must be some.
double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 != 0 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

} // namespace

IterationSeries iteration_times(const std::vector<const Location*>& locations, std::uint32_t phase) {
    std::vector<const PhaseData*> data;
    std::size_t length = 0;
    for (const Location* location : locations) {
        data.push_back(find_phase(location, phase));
        if (data.back() != nullptr) length = std::max(length, data.back()->iteration_ns.size());
    }
    IterationSeries series{std::vector<double>(length), std::vector<double>(length), std::vector<double>(length), std::vector<std::uint32_t>(length)};
    constexpr std::size_t block = 256; // iterations at a time
    in_parallel((length + block - 1) / block, [&](std::size_t b) {
        std::vector<double> values;
        for (std::size_t i = b * block; i < std::min(length, (b + 1) * block); ++i) {
            values.clear();
            double least = std::numeric_limits<double>::max(), most = -1;
            for (std::uint32_t l = 0; l < data.size(); ++l) {
                if (data[l] == nullptr || i >= data[l]->iteration_ns.size()) continue;
                values.push_back(static_cast<double>(data[l]->iteration_ns[i]));
                if (values.back() > most) series.slowest[i] = l;
                most = std::max(most, values.back());
                least = std::min(least, values.back());
            }
            series.minimum[i] = least;
            series.median[i] = median_of(values);
            series.maximum[i] = most;
        }
    });
    return series;
}

std::vector<double> reconstructed_series(const Profile& profile, const PhaseData& data, std::size_t metric_row) {
    std::vector<double> means;
    const auto mean = [&](const std::vector<Cell>& cells, std::uint64_t size) {
        const double sum = static_cast<double>(condense(profile, cells)[metric_row]);
        means.push_back(size == 0 ? 0.0 : sum / static_cast<double>(size));
    };
    for (const Cluster& cluster : data.clusters) mean(cluster.cells, cluster.size);
    mean(data.rest, data.unclustered);
    std::vector<double> series;
    for (const std::uint32_t cluster : data.cluster_of_iteration) series.push_back(means[cluster]);
    if (!data.series || !data.series->has_row(metric_row)) return series;
    SeriesReader reader(*data.series, false);
    for (std::size_t i = 0; i < series.size() && reader.next(); ++i)
        if (reader.has_totals()) series[i] = static_cast<double>(reader.condensed()[metric_row]);
    return series;
}

TimeSpread time_spread(std::vector<double> times) {
    if (times.empty()) return {};
    const double median = median_of(times);
    const auto below = [&](double share) {
        const auto at = times.begin() + std::lround(share * static_cast<double>(times.size() - 1));
        std::nth_element(times.begin(), at, times.end());
        return *at;
    };
    const auto [shortest, longest] = std::minmax_element(times.begin(), times.end());
    const double least = *shortest, most = *longest;
    return {least, below(0.05), median, below(0.95), most};
}

namespace {

struct ClusterGroup {
    std::vector<std::size_t> clusters;
    std::uint64_t equivalence_class = 0;
    double size = 0;
    double mean = 0;     // time of an iteration
    double shortest = 0; // of the means of its clusters
    double longest = 0;
};

/// What joining two groups adds to the sum of squared deviations; infinite for groups that must not be joined. `b` takes longer.
double join_cost(const ClusterGroup& a, const ClusterGroup& b) {
    constexpr double most_times = 3; // as long
    if (a.equivalence_class != b.equivalence_class || b.longest > most_times * a.shortest) return std::numeric_limits<double>::infinity();
    const double deviation = a.mean == b.mean ? 0 : std::log(b.mean / a.mean);
    return a.size * b.size / (a.size + b.size) * deviation * deviation;
}

} // namespace

PhaseData join_similar_clusters(const PhaseData& data, std::size_t most) {
    std::vector<double> time(data.clusters.size() + 1);
    for (std::size_t i = 0; i < data.iteration_ns.size(); ++i) time[data.cluster_of_iteration[i]] += static_cast<double>(data.iteration_ns[i]);
    std::vector<ClusterGroup> groups;
    for (std::size_t c = 0; c < data.clusters.size(); ++c) {
        const Cluster& cluster = data.clusters[c];
        const auto size = static_cast<double>(cluster.size);
        if (cluster.size != 0) groups.push_back({{c}, cluster.equivalence_class, size, time[c] / size, time[c] / size, time[c] / size});
    }
    std::sort(groups.begin(), groups.end(),
              [](const ClusterGroup& a, const ClusterGroup& b) { return std::pair(a.equivalence_class, a.mean) < std::pair(b.equivalence_class, b.mean); });
    while (groups.size() > most) {
        std::size_t best = 0;
        for (std::size_t g = 1; g + 1 < groups.size(); ++g)
            if (join_cost(groups[g], groups[g + 1]) < join_cost(groups[best], groups[best + 1])) best = g;
        if (std::isinf(join_cost(groups[best], groups[best + 1]))) break;
        ClusterGroup& to = groups[best];
        const ClusterGroup& from = groups[best + 1];
        to.mean = (to.mean * to.size + from.mean * from.size) / (to.size + from.size);
        to.size += from.size;
        to.longest = from.longest;
        to.clusters.insert(to.clusters.end(), from.clusters.begin(), from.clusters.end());
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }

    PhaseData joined = data;
    joined.clusters.assign(groups.size(), {});
    std::vector<std::uint32_t> group_of(data.clusters.size() + 1, static_cast<std::uint32_t>(groups.size()));
    for (std::size_t g = 0; g < groups.size(); ++g) {
        Cluster& cluster = joined.clusters[g];
        cluster.equivalence_class = groups[g].equivalence_class;
        for (const std::size_t c : groups[g].clusters) {
            group_of[c] = static_cast<std::uint32_t>(g);
            cluster.size += data.clusters[c].size;
            cluster.cells.insert(cluster.cells.end(), data.clusters[c].cells.begin(), data.clusters[c].cells.end());
        }
    }
    for (std::uint32_t& cluster : joined.cluster_of_iteration) cluster = group_of[cluster];
    return joined;
}

namespace {

/// Sums over iterations by spot.
struct SpotSums {
    std::vector<double> time;
    std::vector<std::uint64_t> visits;
};

SpotSums sums_of(const std::vector<Cell>& cells, const SpotTable& table) {
    SpotSums sums{std::vector<double>(table.spots.size()), std::vector<std::uint64_t>(table.spots.size())};
    for (const Cell& cell : cells) {
        if (cell.metric == 0) sums.time[table.of_path[cell.path]] += static_cast<double>(cell.value);
        if (cell.metric == static_cast<std::uint32_t>(Metric::Visits)) sums.visits[table.of_path[cell.path]] += cell.value;
    }
    return sums;
}

constexpr double smallest_difference = 0.03; // of the typical iteration
constexpr double smallest_ratio = 1.2;

/// The value that half of the weight lies below.
double weighted_median(std::vector<std::pair<double, double>> values) {
    std::sort(values.begin(), values.end());
    double weight = 0, below = 0;
    for (const auto& [value, w] : values) weight += w;
    for (const auto& [value, w] : values) {
        below += w;
        if (2 * below >= weight) return value;
    }
    return 0;
}

/// |log| of the ratio, without division by 0.
double distance(const MetricDifference& d) {
    if (d.here == 0 || d.typical == 0) return 1e9;
    return std::abs(std::log(d.here / d.typical));
}

} // namespace

std::vector<ClusterSummary> summarize_clusters(const Profile& profile, const Location& location, const PhaseData& data, const SpotTable& table) {
    std::vector<ClusterSummary> summaries;
    const std::vector<MetricRow> rows = metric_rows(profile);
    std::vector<SpotSums> spots;
    std::vector<MetricValues> metrics;
    std::vector<double> time(data.clusters.size() + 1);
    std::vector<std::vector<double>> times(data.clusters.size() + 1);
    for (std::size_t i = 0; i < data.iteration_ns.size(); ++i) {
        const std::uint32_t c = data.cluster_of_iteration[i];
        time[c] += static_cast<double>(data.iteration_ns[i]);
        times[c].push_back(static_cast<double>(data.iteration_ns[i]));
    }
    std::vector<std::uint64_t> visits(table.spots.size());
    const WithInside inside = inside_of_clusters(profile, location, data);
    const bool is_told = std::all_of(inside.untold.begin(), inside.untold.end(), [](std::uint64_t ns) { return ns == 0; });
    for (std::size_t c = 0; c < data.clusters.size(); ++c) {
        std::vector<Cell> cells = data.clusters[c].cells;
        for (const SelectedCell& cell : inside.cells[c]) cells.push_back({cell.path, cell.metric, cell.value});
        spots.push_back(sums_of(cells, table));
        metrics.push_back(condense(profile, cells));
        for (std::size_t s = 0; s < visits.size(); ++s) visits[s] += spots.back().visits[s];
    }
    // Per iteration, weighted by the number of iterations.
    const auto typical = [&](auto&& value_of) {
        std::vector<std::pair<double, double>> values;
        for (std::size_t c = 0; c < data.clusters.size(); ++c)
            if (const auto size = static_cast<double>(data.clusters[c].size); size > 0) values.emplace_back(value_of(c) / size, size);
        return weighted_median(std::move(values));
    };
    std::vector<double> typical_spot, typical_row;
    for (std::size_t s = 0; s < table.spots.size(); ++s) typical_spot.push_back(typical([&](std::size_t c) { return spots[c].time[s]; }));
    for (std::size_t r = 0; r < rows.size(); ++r) typical_row.push_back(typical([&](std::size_t c) { return static_cast<double>(metrics[c][r]); }));
    const double typical_time = typical([&](std::size_t c) { return time[c]; });

    for (std::size_t c = 0; c < data.clusters.size(); ++c) {
        const Cluster& cluster = data.clusters[c];
        if (cluster.size == 0) continue;
        const auto size = static_cast<double>(cluster.size);
        ClusterSummary summary{c, cluster.size, time[c] / size, time_spread(std::move(times[c])), {}, {}, is_told};
        for (std::uint32_t s = 0; s < table.spots.size() && is_told; ++s) {
            const double difference = spots[c].time[s] / size - typical_spot[s];
            const bool only = visits[s] != 0 && spots[c].visits[s] == visits[s] && cluster.size != data.instances;
            if (std::abs(difference) >= smallest_difference * typical_time) summary.differences.push_back({s, difference, only});
        }
        std::stable_sort(summary.differences.begin(), summary.differences.end(),
                         [](const Difference& a, const Difference& b) { return std::abs(a.time) > std::abs(b.time); });
        for (std::size_t r = 0; r < rows.size() && is_told; ++r) {
            // Only tops of the tree: their parts say the same again. Samples are random, and so is which polls were timed.
            if (rows[r].unit == "ns" || rows[r].parent >= 0 || rows[r].name == "samples" || rows[r].name == "visits_timed_together") continue;
            const MetricDifference d{r, static_cast<double>(metrics[c][r]) / size, typical_row[r]};
            if (d.here != d.typical && distance(d) >= std::log(smallest_ratio)) summary.metrics.push_back(d);
        }
        std::stable_sort(summary.metrics.begin(), summary.metrics.end(),
                         [](const MetricDifference& a, const MetricDifference& b) { return distance(a) > distance(b); });
        summaries.push_back(std::move(summary));
    }
    std::stable_sort(summaries.begin(), summaries.end(), [](const ClusterSummary& a, const ClusterSummary& b) { return a.size > b.size; });
    return summaries;
}

} // namespace libprofile::tools
