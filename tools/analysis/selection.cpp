#include "tools/analysis/selection.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace libprofile::tools {

namespace {

using Wide = unsigned __int128; // sums of times times numbers of iterations

std::uint64_t key_of(std::uint32_t path, std::uint32_t metric) {
    return std::uint64_t{path} << 32 | metric;
}

/// Sorts by path and metric and sums what is the same.
void merge(std::vector<SelectedCell>& cells) {
    std::sort(cells.begin(), cells.end(), [](const SelectedCell& a, const SelectedCell& b) {
        return key_of(a.path, a.metric) < key_of(b.path, b.metric);
    });
    std::size_t end = 0;
    for (const SelectedCell& cell : cells) {
        if (end != 0 && cells[end - 1].path == cell.path && cells[end - 1].metric == cell.metric) {
            cells[end - 1].value += cell.value;
            cells[end - 1].estimated |= cell.estimated;
            cells[end - 1].guessed |= cell.guessed;
            cells[end - 1].bound = add_bounds(cells[end - 1].bound, cell.bound);
        } else {
            cells[end++] = cell;
        }
    }
    cells.resize(end);
    std::erase_if(cells, [](const SelectedCell& cell) { return cell.value == 0; });
}

constexpr std::size_t categories = static_cast<std::size_t>(TimeCategory::Count);
constexpr std::size_t group_count =
    categories + metric_count - 1; // times by category, then the other metrics

/// The sums of one group of cells that the condensed vectors of iterations tell: a category of time or a metric.
std::size_t group_of(const Profile& profile, std::uint32_t path, std::uint32_t metric) {
    if (metric == 0)
        return static_cast<std::size_t>(category_of(profile, profile.paths[path]));
    return metric < metric_count ? categories + metric - 1 : group_count; // the last: not in the vectors
}

/// A condensed vector by group: derive_catalogue backwards.
void add_groups(const std::array<std::uint64_t, catalogue_size>& condensed, std::uint64_t* groups) {
    for (std::size_t c = 0; c < categories; ++c) {
        const CatalogueId row = catalogue_of(static_cast<TimeCategory>(c));
        std::uint64_t own = condensed[static_cast<std::size_t>(row)];
        for (const CatalogueRow& child : metric_catalogue)
            if (child.parent == row)
                own -= std::min(own, condensed[static_cast<std::size_t>(child.id)]);
        groups[c] += own;
    }
    for (std::size_t i = 0; i < catalogue_size; ++i)
        if (metric_catalogue[i].kind == CatalogueKind::Direct)
            groups[categories + static_cast<std::size_t>(metric_catalogue[i].direct) - 1] += condensed[i];
}

/// Scales cells so that they add up to `target`; what rounding leaves goes to the largest remainders.
void scale(std::vector<SelectedCell*>& cells, std::uint64_t sum, std::uint64_t target) {
    std::vector<std::pair<std::uint64_t, std::size_t>> remainders;
    std::uint64_t given = 0, bounds = 0;
    for (const SelectedCell* cell : cells)
        bounds = add_bounds(bounds, cell->bound);
    if (bounds < (sum > target ? sum - target : target - sum))
        bounds = no_bound; // something is not as it was said to be
    std::vector<std::uint64_t> before;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        before.push_back(cells[i]->value);
        const Wide share = Wide{cells[i]->value} * target;
        cells[i]->value = static_cast<std::uint64_t>(share / sum);
        cells[i]->estimated = true;
        given += cells[i]->value;
        remainders.emplace_back(static_cast<std::uint64_t>(share % sum), i);
    }
    std::sort(remainders.begin(), remainders.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (std::size_t i = 0; i < remainders.size() && given < target; ++i, ++given)
        ++cells[remainders[i].second]->value;
    // How far each was moved comes on top of how far it was off.
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::uint64_t now = cells[i]->value, moved = now > before[i] ? now - before[i] : before[i] - now;
        cells[i]->bound = bounds == no_bound ? no_bound : add_bounds(cells[i]->bound, moved);
    }
}

/// What one range has seen while the iterations pass.
struct Gathered {
    IterationRange range;
    std::vector<std::uint64_t> selected;      // iterations, by cluster; the rest last
    std::vector<std::uint64_t> missing;       // of these: without cells of their own
    std::vector<std::uint64_t> counts, times; // sums of the columns
    std::vector<std::uint64_t> occurs;        // in how many iterations a column of counts is not 0
    std::uint64_t groups[group_count] = {};
    std::uint64_t without_totals = 0;
    std::uint64_t with_cells = 0;

    void take(const SeriesReader& reader) {
        if (reader.has_totals())
            add_groups(reader.condensed(), groups);
        else
            ++without_totals;
    }
};

class Columns {
  public:
    explicit Columns(const PhaseData& data) {
        if (!data.series)
            return;
        for (const auto* columns : {&data.series->counts, &data.series->times})
            for (const SeriesData::Column& column : *columns)
                keys_.insert(key_of(column.path, column.metric));
    }
    bool has(const Cell& cell) const { return keys_.contains(key_of(cell.path, cell.metric)); }

  private:
    std::unordered_set<std::uint64_t> keys_;
};

/// @param iterations how many may have added to a column
template <class Iterations>
void add_columns(const std::vector<SeriesData::Column>& columns, const std::vector<std::uint64_t>& sums, Iterations iterations,
                 const SeriesData& series, std::vector<SelectedCell>& cells) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const SeriesData::Column& column = columns[i];
        if (sums[i] == 0)
            continue;
        // Each iteration's value is off by the largest error at most, and all of them together by the sum.
        const SeriesAccuracyRecord accuracy = column.metric < metric_count ? series.accuracy[column.metric] : SeriesAccuracyRecord{};
        const Wide bound = std::min(Wide{accuracy.largest} * iterations(i), Wide{accuracy.sum});
        cells.push_back({column.path, column.metric, sums[i], accuracy.largest != 0, static_cast<std::uint64_t>(bound), false});
    }
}

/// A value is part of the exact one of the whole phase, and of the exact sum of its group over the same iterations: it cannot be
/// further off than these allow, and not at all where it is the only one of its group.
void limit_bounds(const Profile& profile, const PhaseData& data, const Gathered& from, std::vector<SelectedCell>& cells) {
    if (std::none_of(cells.begin(), cells.end(), [](const SelectedCell& cell) { return cell.bound != 0; }))
        return;
    std::unordered_map<std::uint64_t, std::uint64_t> whole;
    for_each_cell(data, [&](const Cell& cell) { whole[key_of(cell.path, cell.metric)] += cell.value; });
    std::uint64_t members[group_count + 1] = {};
    for (const auto& [key, value] : whole)
        ++members[group_of(profile, static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key))];
    const bool sums_known = data.series && from.without_totals == 0;
    for (SelectedCell& cell : cells) {
        const auto at = whole.find(key_of(cell.path, cell.metric));
        if (cell.bound == 0 || at == whole.end())
            continue;
        const auto limit = [&](std::uint64_t sum) {
            cell.bound = std::min(cell.bound, std::max(cell.value, sum - std::min(sum, cell.value)));
        };
        limit(at->second);
        const std::size_t group = group_of(profile, cell.path, cell.metric);
        if (!sums_known || group == group_count)
            continue;
        limit(from.groups[group]);
        if (members[group] == 1 && from.groups[group] == cell.value)
            cell.bound = 0;
    }
}

/// The call path with most of a group in the whole phase, of those that were visited in the range if there are any; the root where
/// none has it.
std::uint32_t likeliest_path(const Profile& profile, const PhaseData& data, const std::vector<SelectedCell>& cells, std::size_t group) {
    std::unordered_set<std::uint32_t> visited;
    for (const SelectedCell& cell : cells)
        if (cell.metric == static_cast<std::uint32_t>(Metric::Visits))
            visited.insert(cell.path);
    std::unordered_map<std::uint32_t, std::uint64_t> values;
    for_each_cell(data, [&](const Cell& cell) {
        if (group_of(profile, cell.path, cell.metric) == group)
            values[cell.path] += cell.value;
    });
    std::uint32_t best = 0;
    std::pair<bool, std::uint64_t> most{false, 0};
    for (const auto& [path, value] : values) {
        const std::pair<bool, std::uint64_t> rank{visited.contains(path), value};
        if (rank > most || (rank == most && path < best))
            best = path, most = rank;
    }
    return best;
}

std::vector<SelectedCell> put_together(const Profile& profile, const PhaseData& data, const Columns& columns,
                                       const Gathered& from) {
    std::vector<SelectedCell> cells;
    if (data.series) {
        add_columns(data.series->counts, from.counts, [&](std::size_t) { return from.with_cells; }, *data.series, cells);
        // Where a call path was not visited it took no time. Visits are exact.
        const std::vector<std::uint32_t>& visits = data.series->visits_of;
        const auto visited = [&](std::size_t i) {
            return i < visits.size() && visits[i] < from.occurs.size() ? from.occurs[visits[i]] : from.with_cells;
        };
        add_columns(data.series->times, from.times, visited, *data.series, cells);
    }
    const auto add_share = [&](const std::vector<Cell>& of, std::uint64_t size, std::size_t cluster) {
        if (size == 0 || from.selected[cluster] == 0)
            return;
        for (const Cell& cell : of) {
            const std::uint64_t n = columns.has(cell) ? from.missing[cluster] : from.selected[cluster];
            const auto share = static_cast<std::uint64_t>((Wide{cell.value} * n + size / 2) / size);
            if (share != 0)
                cells.push_back({cell.path, cell.metric, share, n != size, n != size ? no_bound : 0, n != size});
        }
    };
    for (std::size_t c = 0; c < data.clusters.size(); ++c)
        add_share(data.clusters[c].cells, data.clusters[c].size, c);
    add_share(data.rest, data.unclustered, data.clusters.size());
    merge(cells);
    if (!data.series || from.without_totals != 0)
        return cells;

    std::uint64_t sums[group_count + 1] = {};
    for (const SelectedCell& cell : cells)
        sums[group_of(profile, cell.path, cell.metric)] += cell.value;
    bool lost = false;
    for (std::size_t g = 0; g < group_count; ++g) {
        if (sums[g] == from.groups[g])
            continue;
        if (sums[g] == 0) { // nothing that could be scaled: small values that were coded as none
            const auto metric = static_cast<std::uint32_t>(g < categories ? 0 : g - categories + 1);
            cells.push_back({likeliest_path(profile, data, cells, g), metric, from.groups[g], true, no_bound, true});
            lost = true;
            continue;
        }
        std::vector<SelectedCell*> group;
        for (SelectedCell& cell : cells)
            if (group_of(profile, cell.path, cell.metric) == g)
                group.push_back(&cell);
        scale(group, sums[g], from.groups[g]);
    }
    if (lost)
        merge(cells);
    else
        std::erase_if(cells, [](const SelectedCell& cell) { return cell.value == 0; });
    return cells;
}

} // namespace

bool has_exact_sums(const PhaseData& data) {
    return data.series && data.series->iterations_with_totals() >= data.cluster_of_iteration.size();
}

std::vector<SelectedCell> selected_cells(const PhaseData& data) {
    std::vector<SelectedCell> cells;
    for_each_cell(data, [&](const Cell& cell) {
        cells.push_back({cell.path, cell.metric, cell.value, false, 0});
    });
    merge(cells);
    return cells;
}

std::vector<std::vector<SelectedCell>> selected_cells(const Profile& profile, const PhaseData& data,
                                                      std::span<const IterationRange> ranges) {
    const std::uint64_t iterations = data.cluster_of_iteration.size();
    if (ranges.size() == 1 && ranges[0].first == 0 && ranges[0].last >= iterations - 1 && iterations != 0)
        return {selected_cells(data)};
    std::vector<Gathered> gathered(ranges.size());
    for (std::size_t r = 0; r < ranges.size(); ++r) {
        Gathered& g = gathered[r];
        g.range = ranges[r];
        g.selected.resize(data.clusters.size() + 1);
        g.missing.resize(data.clusters.size() + 1);
        if (data.series) {
            g.counts.resize(data.series->counts.size());
            g.occurs.resize(data.series->counts.size());
            g.times.resize(data.series->times.size());
        }
    }
    std::optional<SeriesReader> reader;
    if (data.series)
        reader.emplace(*data.series);
    std::size_t r = 0;
    const std::uint64_t start = ranges.empty() ? iterations : ranges[0].first;
    for (std::uint64_t i = reader ? reader->skip_before(start) : start; i < iterations; ++i) {
        const bool read = reader && reader->next();
        while (r < gathered.size() && gathered[r].range.last < i)
            ++r;
        if (r == gathered.size())
            break;
        Gathered& g = gathered[r];
        if (i < g.range.first)
            continue;
        const std::size_t cluster = std::min<std::size_t>(data.cluster_of_iteration[i], data.clusters.size());
        ++g.selected[cluster];
        if (!read) {
            ++g.missing[cluster];
            ++g.without_totals;
            continue;
        }
        g.take(*reader);
        if (!reader->has_cells()) {
            ++g.missing[cluster];
            continue;
        }
        ++g.with_cells;
        const SeriesData& series = *data.series;
        const auto is_count = [&](const SeriesData::Column* column) {
            const SeriesData::Column* const begin = series.counts.data();
            return !std::less<>{}(column, begin) && std::less<>{}(column, begin + series.counts.size());
        };
        reader->for_each_cell([&](const SeriesData::Column& column, std::uint64_t value) {
            if (is_count(&column)) {
                const auto c = static_cast<std::size_t>(&column - series.counts.data());
                g.counts[c] += value;
                ++g.occurs[c];
            } else {
                g.times[static_cast<std::size_t>(&column - series.times.data())] += value;
            }
        });
    }
    const Columns columns(data);
    std::vector<std::vector<SelectedCell>> cells;
    for (const Gathered& g : gathered)
        limit_bounds(profile, data, g, cells.emplace_back(put_together(profile, data, columns, g)));
    return cells;
}

bool sums_are_exact(const PhaseData& data, IterationRange range) {
    const std::uint64_t iterations = data.cluster_of_iteration.size();
    if (iterations == 0 || range.first >= iterations || (range.first == 0 && range.last >= iterations - 1))
        return true;
    if (!data.series)
        return false;
    std::uint64_t at = 0;
    for (const SeriesData::Chunk& chunk : data.series->chunks) {
        if (!chunk.has_totals && at <= range.last && at + chunk.iterations > range.first)
            return false;
        at += chunk.iterations;
    }
    return at > std::min(range.last, iterations - 1);
}

} // namespace libprofile::tools
