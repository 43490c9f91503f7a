#include "tools/view/value_map.hpp"

#include "tools/analysis/inside.hpp"
#include "tools/analysis/iterations.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace libprofile::tools {

namespace {

constexpr std::size_t row_of(CatalogueId id) { return static_cast<std::size_t>(id); }

/// The times of one region in some cells.
std::uint64_t region_time(const MapMetric& metric, const std::vector<Cell>& cells) {
    std::uint64_t sum = 0;
    for (const Cell& cell : cells)
        if (cell.metric == static_cast<std::uint32_t>(Metric::RegionTime) && metric.paths[cell.path]) sum += cell.value;
    return sum;
}

/// The phase and those inside its iterations.
std::vector<const PhaseData*> with_inside(const Location* location, std::uint32_t phase) {
    const PhaseData* data = find_phase(location, phase);
    if (data == nullptr) return {};
    std::vector<const PhaseData*> list = phases_inside(*location, *data);
    list.push_back(data);
    return list;
}

/// Those of a phase, longest first.
std::vector<MapMetric> region_metrics(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::uint64_t, MapMetric>> regions; // by class and name
    for (const Location* location : locations)
        for (const PhaseData* data : with_inside(location, phase))
            for_each_cell(*data, [&](const Cell& cell) {
                const CallPath& path = profile.paths[cell.path];
                if (path.kind != NodeKind::Region || cell.metric != static_cast<std::uint32_t>(Metric::RegionTime)) return;
                auto& [sum, metric] = regions[{path.target, path.address}];
                sum += cell.value;
                metric.paths.resize(profile.paths.size());
                metric.paths[cell.path] = true;
                if (!metric.name.empty()) return;
                const std::string name = label_of(profile, path).name;
                metric.kind = MapMetric::Region;
                metric.name = fmt::format("{}:{}", region_class_names[path.target], name);
                metric.label = fmt::format("{} {}", region_class_names[path.target], name);
                metric.unit = "ns";
                metric.description = "time from the entry to the exit of this region";
            });
    std::vector<std::pair<std::uint64_t, MapMetric>> sorted;
    for (auto& [key, region] : regions) sorted.push_back(std::move(region));
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<MapMetric> metrics;
    for (std::size_t i = 0; i < std::min(sorted.size(), most_map_regions); ++i) metrics.push_back(std::move(sorted[i].second));
    return metrics;
}

std::uint64_t value_of(const MapMetric& metric, const MetricValues& values) {
    return metric.kind == MapMetric::Computation ? computing_of(values) : values[metric.row];
}

/// The mean iteration of every cluster and of the rest.
std::vector<std::vector<std::uint64_t>> cluster_means(const Profile& profile, const PhaseData& data, const std::vector<MapMetric>& metrics) {
    std::vector<std::vector<std::uint64_t>> means;
    const auto add = [&](const std::vector<Cell>& cells, std::uint64_t size) {
        const MetricValues sums = condense(profile, cells);
        means.emplace_back();
        for (const MapMetric& metric : metrics)
            means.back().push_back(size == 0 ? 0
                                             : ((metric.kind == MapMetric::Region ? region_time(metric, cells) : value_of(metric, sums)) + size / 2) / size);
    };
    for (const Cluster& cluster : data.clusters) add(cluster.cells, cluster.size);
    add(data.rest, data.unclustered);
    return means;
}

/// The time of named regions in phases inside the iterations: by iteration, then metric.
std::vector<std::vector<std::uint64_t>> region_times_inside(const Profile& profile, const Location& location, const PhaseData& data,
                                                            const std::vector<MapMetric>& metrics) {
    std::vector<IterationRange> ranges;
    for (std::uint64_t i = 0; i < data.iteration_ns.size(); ++i) ranges.push_back({i, i});
    const auto own = selected_cells(profile, data, ranges), all = cells_with_inside(profile, location, data, ranges).cells;
    std::vector<std::vector<std::uint64_t>> times(ranges.size(), std::vector<std::uint64_t>(metrics.size()));
    const auto sum = [&](const std::vector<SelectedCell>& cells, const MapMetric& metric) {
        std::uint64_t ns = 0;
        for (const SelectedCell& cell : cells) ns += cell.metric == static_cast<std::uint32_t>(Metric::RegionTime) && metric.paths[cell.path] ? cell.value : 0;
        return ns;
    };
    for (std::size_t i = 0; i < ranges.size(); ++i)
        for (std::size_t m = 0; m < metrics.size(); ++m)
            if (metrics[m].kind == MapMetric::Region) times[i][m] = sum(all[i], metrics[m]) - sum(own[i], metrics[m]);
    return times;
}

} // namespace

std::vector<MapMetric> map_metrics(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase) {
    const std::vector<MetricRow> rows = metric_rows(profile);
    MetricValues sums(rows.size());
    for (const Location* location : locations)
        for (const PhaseData* data : with_inside(location, phase)) add(sums, totals(profile, *data));
    std::vector<MapMetric> metrics = {
        {MapMetric::IterationTime, 0, "iteration_time", "Iteration time", "ns", "wall time of the iteration, phases inside it included"}};
    if (computing_of(sums) != 0)
        metrics.push_back({MapMetric::Computation, 0, "computation", "Computation", "ns", "time of the program's own code on the processor"});
    using enum CatalogueId;
    std::vector<std::size_t> order;
    for (const CatalogueId id : {Mpi, MpiPointToPoint, MpiCollective, MpiSync, Bytes, Visits, OffCpu, Overhead}) order.push_back(row_of(id));
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (std::find(order.begin(), order.end(), r) == order.end()) order.push_back(r);
    const std::size_t first = metrics.size();
    for (const std::size_t r : order)
        if (sums[r] != 0) metrics.push_back({MapMetric::Row, r, rows[r].name, rows[r].label, rows[r].unit, rows[r].description});
    // Whoever has named them wants to see them: before what is left of the catalogue.
    const auto is_looked_for = [&](const MapMetric& metric) { return std::find(order.begin(), order.begin() + 8, metric.row) != order.begin() + 8; };
    const auto position = std::find_if_not(metrics.begin() + static_cast<std::ptrdiff_t>(first), metrics.end(), is_looked_for);
    std::vector<MapMetric> regions = region_metrics(profile, locations, phase);
    metrics.insert(position, std::make_move_iterator(regions.begin()), std::make_move_iterator(regions.end()));
    return metrics;
}

std::vector<MapValues> map_values(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase, std::size_t iterations,
                                  const std::vector<MapMetric>& metrics) {
    std::vector<MapValues> maps;
    bool only_times = true, has_regions = false;
    for (const MapMetric& metric : metrics) {
        maps.push_back({metric, true, true, std::vector<std::uint64_t>(locations.size() * iterations, no_value)});
        only_times = only_times && metric.kind == MapMetric::IterationTime;
        has_regions = has_regions || metric.kind == MapMetric::Region;
    }
    for (std::size_t l = 0; l < locations.size(); ++l) {
        const PhaseData* data = find_phase(locations[l], phase);
        if (data == nullptr) continue;
        const std::size_t length = std::min(iterations, data->iteration_ns.size());
        const auto means = only_times ? std::vector<std::vector<std::uint64_t>>() : cluster_means(profile, *data, metrics);
        std::optional<SeriesReader> reader;
        std::vector<SeriesData::NumberedColumn> columns;
        std::vector<Cell> times; // of the named regions in one iteration
        const RowsInside inside = only_times ? RowsInside() : rows_inside(profile, *locations[l], *data);
        const auto regions_inside =
            has_regions && !inside.rows.empty() ? region_times_inside(profile, *locations[l], *data, metrics) : std::vector<std::vector<std::uint64_t>>();
        if (data->series && !only_times) reader.emplace(*data->series, has_regions);
        if (data->series && has_regions) columns = data->series->numbered_columns();
        bool more = reader.has_value();
        MetricValues values(metric_rows(profile).size());
        for (std::size_t i = 0; i < length; ++i) {
            more = more && reader->next();
            const bool known = more && reader->has_totals();
            if (known) std::copy(reader->condensed().begin(), reader->condensed().end(), values.begin());
            const bool knows_regions = more && has_regions && reader->has_cells();
            times.clear();
            if (knows_regions)
                reader->for_each_cell([&](std::size_t number, std::uint64_t value) {
                    const SeriesData::Column& column = columns[number].column;
                    if (column.metric == static_cast<std::uint32_t>(Metric::RegionTime)) times.push_back({column.path, column.metric, value});
                });
            for (std::size_t m = 0; m < metrics.size(); ++m) {
                std::uint64_t& value = maps[m].values[l * iterations + i];
                const bool is_all_time = metrics[m].kind == MapMetric::IterationTime || (metrics[m].kind == MapMetric::Row && metrics[m].row == 0);
                if (is_all_time) {
                    value = data->iteration_ns[i];
                } else if (metrics[m].kind == MapMetric::Region && knows_regions) {
                    value = region_time(metrics[m], times);
                } else if (metrics[m].kind != MapMetric::Region && known && data->series->has_row(metrics[m].row)) {
                    value = value_of(metrics[m], values);
                } else {
                    const std::size_t cluster = data->cluster_of_iteration[i];
                    value = means[std::min(cluster, means.size() - 1)][m];
                    maps[m].exact = false;
                }
                if (is_all_time || inside.rows.empty()) continue;
                if (!inside.is_told(i)) {
                    value = no_value;
                    maps[m].is_told = false;
                    continue;
                }
                value += metrics[m].kind == MapMetric::Region ? regions_inside[i][m] : value_of(metrics[m], inside.rows[i]);
                maps[m].exact = maps[m].exact && inside.is_exact;
            }
        }
    }
    return maps;
}

namespace {

/// What a code that knows only how often each byte occurs needs.
double entropy_bytes(const ByteList& bytes) {
    std::size_t counts[256] = {};
    for (const unsigned char byte : bytes) ++counts[byte];
    double bits = 0;
    for (const std::size_t n : counts)
        if (n != 0) bits += static_cast<double>(n) * std::log2(static_cast<double>(bytes.size()) / static_cast<double>(n));
    return bits / 8;
}

} // namespace

QuantizedMap quantize(const std::vector<std::uint64_t>& values, std::size_t iterations, std::size_t most_bytes) {
    // The spread is taken from a regular sample: a picture's levels need no exact quantiles.
    std::vector<std::uint64_t> sample;
    std::uint64_t lowest = no_value, highest = 0;
    const std::size_t stride = values.size() / 200000 * 2 + 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == no_value) continue;
        lowest = std::min(lowest, values[i]);
        highest = std::max(highest, values[i]);
        if (i % stride == 0) sample.push_back(values[i]);
    }
    QuantizedMap map;
    if (lowest > highest || sample.empty()) {
        map.bounds = {0, 1};
        map.deltas = deflated(ByteList(values.size()));
        return map;
    }
    std::sort(sample.begin(), sample.end());
    const auto at = [&](double q) { return static_cast<double>(sample[static_cast<std::size_t>(q * static_cast<double>(sample.size() - 1))]); };
    const double median = at(0.5);
    const double scale = std::max({at(0.9) - at(0.1), median / 100, 1.0});
    const auto compress_value = [&](double v) { return std::asinh((v - median) / scale); };
    const double low = compress_value(static_cast<double>(lowest)), high = compress_value(static_cast<double>(highest));
    for (unsigned levels = 255;; levels = (levels + 1) / 2 - 1) {
        // Few different values, as with counts, have a level of their own each.
        const double distinct = static_cast<double>(highest - lowest) + 1;
        const bool each = distinct <= levels;
        const unsigned used = each ? static_cast<unsigned>(distinct) : levels;
        const double per_level = high > low ? (high - low) / used : 1;
        map.bounds.clear();
        for (unsigned l = 0; l <= used; ++l) map.bounds.push_back(each ? static_cast<double>(lowest) + l : median + scale * std::sinh(low + per_level * l));
        if (!each) { // what rounding has moved
            map.bounds.front() = static_cast<double>(lowest);
            map.bounds.back() = static_cast<double>(highest);
        }
        ByteList deltas(values.size());
        for (std::size_t start = 0; start < values.size(); start += iterations) {
            unsigned before = 0;
            for (std::size_t i = start; i < std::min(start + iterations, values.size()); ++i) {
                unsigned level = 0;
                if (values[i] != no_value && each)
                    level = static_cast<unsigned>(values[i] - lowest) + 1;
                else if (values[i] != no_value)
                    level = std::min(used - 1, static_cast<unsigned>(std::max(0.0, (compress_value(static_cast<double>(values[i])) - low) / per_level))) + 1;
                deltas[i] = static_cast<unsigned char>(level - before);
                before = level;
            }
        }
        // Compressing takes a second where guessing that it will not fit takes none.
        if (levels > 15 && entropy_bytes(deltas) > 1.3 * static_cast<double>(most_bytes)) continue;
        map.deltas = deflated(deltas);
        if (map.deltas.size() <= most_bytes || levels <= 15) return map;
    }
}

MapSpread spread_over_ranks(const std::vector<std::uint64_t>& values, std::size_t iterations) {
    MapSpread spread;
    const std::size_t ranks = iterations == 0 ? 0 : values.size() / iterations;
    std::int64_t before[4] = {};
    const auto put = [&](NumberColumn& column, unsigned which, std::uint64_t value) {
        column.add_signed(static_cast<std::int64_t>(value) - before[which]);
        before[which] = static_cast<std::int64_t>(value);
    };
    constexpr std::size_t block = 32; // iterations at a time: whole cache lines of every rank's row
    std::vector<std::uint64_t> here[block];
    std::uint64_t slowest[block];
    for (std::size_t start = 0; start < iterations; start += block) {
        const std::size_t length = std::min(block, iterations - start);
        std::uint64_t sums[block] = {}, most[block] = {};
        for (std::size_t b = 0; b < length; ++b) {
            here[b].clear();
            slowest[b] = 0;
        }
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t b = 0; b < length; ++b) {
                const std::uint64_t v = values[r * iterations + start + b];
                if (v == no_value) continue;
                if (here[b].empty() || v > most[b]) {
                    most[b] = v;
                    slowest[b] = r;
                }
                sums[b] += v;
                here[b].push_back(v);
            }
        for (std::size_t b = 0; b < length; ++b) {
            std::vector<std::uint64_t>& list = here[b];
            std::uint64_t lowest = 0, twice = 0;
            if (!list.empty()) {
                lowest = *std::min_element(list.begin(), list.end());
                const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
                std::nth_element(list.begin(), middle, list.end());
                twice = *middle + (list.size() % 2 != 0 ? *middle : *std::max_element(list.begin(), middle));
            }
            put(spread.minimum, 0, lowest);
            put(spread.twice_median, 1, twice);
            put(spread.maximum, 2, most[b]);
            put(spread.sum, 3, sums[b]);
            spread.slowest.add(slowest[b]);
            spread.ranks.add(list.size());
        }
    }
    return spread;
}

} // namespace libprofile::tools
