#include "tools/analysis/iterations.hpp"

#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

IterationSeries iteration_times(const std::vector<const Location*>& locations, std::uint32_t phase) {
    std::vector<const PhaseData*> data;
    std::size_t length = 0;
    for (const Location* location : locations) {
        data.push_back(find_phase(location, phase));
        if (data.back() != nullptr)
            length = std::max(length, data.back()->iteration_ns.size());
    }
    IterationSeries series;
    std::vector<double> values;
    for (std::size_t i = 0; i < length; ++i) {
        values.clear();
        double most = -1;
        std::uint32_t slowest = 0;
        for (std::uint32_t l = 0; l < data.size(); ++l) {
            if (data[l] == nullptr || i >= data[l]->iteration_ns.size())
                continue;
            values.push_back(static_cast<double>(data[l]->iteration_ns[i]));
            if (values.back() > most)
                slowest = l;
            most = std::max(most, values.back());
        }
        const Spread spread = spread_of(values);
        series.minimum.push_back(spread.minimum);
        series.median.push_back(spread.median);
        series.maximum.push_back(spread.maximum);
        series.slowest.push_back(slowest);
    }
    return series;
}

std::vector<double> reconstructed_series(const Profile& profile, const PhaseData& data,
                                         std::size_t metric_row) {
    std::vector<double> means;
    const auto mean = [&](const std::vector<Cell>& cells, std::uint64_t size) {
        const double sum = static_cast<double>(condense(profile, cells)[metric_row]);
        means.push_back(size == 0 ? 0.0 : sum / static_cast<double>(size));
    };
    for (const Cluster& cluster : data.clusters)
        mean(cluster.cells, cluster.size);
    mean(data.rest, data.unclustered);
    std::vector<double> series;
    for (const std::uint32_t cluster : data.cluster_of_iteration)
        series.push_back(means[cluster]);
    return series;
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
        if (cell.metric == 0)
            sums.time[table.of_path[cell.path]] += static_cast<double>(cell.value);
        if (cell.metric == static_cast<std::uint32_t>(Metric::Visits))
            sums.visits[table.of_path[cell.path]] += cell.value;
    }
    return sums;
}

constexpr double smallest_difference = 0.03; // of the typical iteration
constexpr double smallest_ratio = 1.2;

/// The value that half of the weight lies below.
double weighted_median(std::vector<std::pair<double, double>> values) {
    std::sort(values.begin(), values.end());
    double weight = 0, below = 0;
    for (const auto& [value, w] : values)
        weight += w;
    for (const auto& [value, w] : values) {
        below += w;
        if (2 * below >= weight)
            return value;
    }
    return 0;
}

/// |log| of the ratio, without division by 0.
double distance(const MetricDifference& d) {
    if (d.here == 0 || d.typical == 0)
        return 1e9;
    return std::abs(std::log(d.here / d.typical));
}

} // namespace

std::vector<ClusterSummary> summarize_clusters(const Profile& profile, const PhaseData& data,
                                               const SpotTable& table) {
    std::vector<ClusterSummary> summaries;
    const std::vector<MetricRow> rows = metric_rows(profile);
    std::vector<SpotSums> spots;
    std::vector<MetricValues> metrics;
    std::vector<double> time(data.clusters.size() + 1);
    for (std::size_t i = 0; i < data.iteration_ns.size(); ++i)
        time[data.cluster_of_iteration[i]] += static_cast<double>(data.iteration_ns[i]);
    std::vector<std::uint64_t> visits(table.spots.size());
    for (const Cluster& cluster : data.clusters) {
        spots.push_back(sums_of(cluster.cells, table));
        metrics.push_back(condense(profile, cluster.cells));
        for (std::size_t s = 0; s < visits.size(); ++s)
            visits[s] += spots.back().visits[s];
    }
    // Per iteration, weighted by the number of iterations.
    const auto typical = [&](auto&& value_of) {
        std::vector<std::pair<double, double>> values;
        for (std::size_t c = 0; c < data.clusters.size(); ++c)
            if (const auto size = static_cast<double>(data.clusters[c].size); size > 0)
                values.emplace_back(value_of(c) / size, size);
        return weighted_median(std::move(values));
    };
    std::vector<double> typical_spot, typical_row;
    for (std::size_t s = 0; s < table.spots.size(); ++s)
        typical_spot.push_back(typical([&](std::size_t c) { return spots[c].time[s]; }));
    for (std::size_t r = 0; r < rows.size(); ++r)
        typical_row.push_back(typical([&](std::size_t c) { return static_cast<double>(metrics[c][r]); }));
    const double typical_time = typical([&](std::size_t c) { return time[c]; });

    for (std::size_t c = 0; c < data.clusters.size(); ++c) {
        const Cluster& cluster = data.clusters[c];
        if (cluster.size == 0)
            continue;
        const auto size = static_cast<double>(cluster.size);
        ClusterSummary summary{c, cluster.size, time[c] / size, {}, {}};
        for (std::uint32_t s = 0; s < table.spots.size(); ++s) {
            const double difference = spots[c].time[s] / size - typical_spot[s];
            const bool only =
                visits[s] != 0 && spots[c].visits[s] == visits[s] && cluster.size != data.instances;
            if (std::abs(difference) >= smallest_difference * typical_time)
                summary.differences.push_back({s, difference, only});
        }
        std::stable_sort(
            summary.differences.begin(), summary.differences.end(),
            [](const Difference& a, const Difference& b) { return std::abs(a.time) > std::abs(b.time); });
        for (std::size_t r = 0; r < rows.size(); ++r) {
            // Only tops of the tree: their parts say the same again. Samples are chance.
            if (rows[r].unit == "ns" || rows[r].parent >= 0 || rows[r].name == "samples")
                continue;
            const MetricDifference d{r, static_cast<double>(metrics[c][r]) / size, typical_row[r]};
            if (d.here != d.typical && distance(d) >= std::log(smallest_ratio))
                summary.metrics.push_back(d);
        }
        std::stable_sort(
            summary.metrics.begin(), summary.metrics.end(),
            [](const MetricDifference& a, const MetricDifference& b) { return distance(a) > distance(b); });
        summaries.push_back(std::move(summary));
    }
    std::stable_sort(summaries.begin(), summaries.end(),
                     [](const ClusterSummary& a, const ClusterSummary& b) { return a.size > b.size; });
    return summaries;
}

} // namespace libprofile::tools
