#include "tools/analysis/selection.hpp"

#include "tools/analysis/cell_groups.hpp"
#include "tools/reader/proportional_shares.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace libprofile::tools {

namespace {

using Wide = unsigned __int128; // sums of times times numbers of iterations

std::uint64_t key_of(std::uint32_t path, std::uint32_t metric) { return std::uint64_t{path} << 32 | metric; }

/// What is 0 for sure is not told.
void erase_nothing(std::vector<SelectedCell>& cells) {
    std::erase_if(cells, [](const SelectedCell& cell) { return cell.value == 0 && cell.bound == 0; });
}

/// Sorts by path and metric and sums what is the same.
void merge(std::vector<SelectedCell>& cells) {
    std::sort(cells.begin(), cells.end(), [](const SelectedCell& a, const SelectedCell& b) { return key_of(a.path, a.metric) < key_of(b.path, b.metric); });
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
    erase_nothing(cells);
}

/// Scales cells so that they add up to `target`; what rounding leaves goes to the largest remainders.
void scale(std::vector<SelectedCell*>& cells, std::uint64_t sum, std::uint64_t target) {
    std::uint64_t bounds = 0;
    std::vector<Weight> weights;
    for (const SelectedCell* cell : cells) {
        bounds = add_bounds(bounds, cell->bound);
        weights.push_back({cell->path, cell->value});
    }
    if (bounds < (sum > target ? sum - target : target - sum)) bounds = no_bound; // something is not as it was said to be
    const std::vector<std::uint64_t> shares = proportional_shares(target, weights);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        SelectedCell& cell = *cells[i];
        // How far each was moved comes on top of how far it was off.
        const std::uint64_t moved = shares[i] > cell.value ? shares[i] - cell.value : cell.value - shares[i];
        cell.value = shares[i];
        cell.estimated = true;
        cell.bound = bounds == no_bound ? no_bound : add_bounds(cell.bound, moved);
    }
}

/// What one group has seen while the iterations pass.
struct Gathered {
    std::vector<std::uint64_t> selected; // iterations, by cluster; the rest last
    std::vector<std::uint64_t> missing;  // of these: without cells of their own
    std::vector<std::uint64_t> sums;     // of the columns
    std::vector<std::uint64_t> occurs;   // in how many iterations a column is not 0
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
        if (data.series) list_ = data.series->numbered_columns();
        for (const SeriesData::NumberedColumn& numbered : list_) keys_.insert(key_of(numbered.column.path, numbered.column.metric));
    }
    const std::vector<SeriesData::NumberedColumn>& list() const { return list_; }
    bool has(const Cell& cell) const { return keys_.contains(key_of(cell.path, cell.metric)); }

  private:
    std::vector<SeriesData::NumberedColumn> list_;
    std::unordered_set<std::uint64_t> keys_;
};

void add_columns(const Columns& columns, const Gathered& from, std::vector<SelectedCell>& cells) {
    for (std::size_t i = 0; i < from.sums.size(); ++i) {
        const SeriesData::NumberedColumn& numbered = columns.list()[i];
        // A call path that was visited may have a value that was so small that it was coded as none.
        const bool may_be_small = numbered.visits != SeriesData::NumberedColumn::none && from.occurs[numbered.visits] != 0;
        if (from.sums[i] == 0 && !may_be_small) continue;
        // Where a call path was not visited it took no time. Visits are exact.
        const std::uint64_t iterations = numbered.visits != SeriesData::NumberedColumn::none ? from.occurs[numbered.visits] : from.with_cells;
        // Each iteration's value is off by the largest error at most, and all of them together by the sum.
        const Wide bound = std::min(Wide{numbered.accuracy.largest} * iterations, Wide{numbered.accuracy.sum});
        cells.push_back({numbered.column.path, numbered.column.metric, from.sums[i], numbered.accuracy.largest != 0, static_cast<std::uint64_t>(bound), false});
    }
}

/// A value is part of the exact one of the whole phase, and of the exact sum of its group over the same iterations: it cannot be
/// further off than these allow, and not at all where it is the only one of its group.
void limit_bounds(const Profile& profile, const PhaseData& data, const Gathered& from, std::vector<SelectedCell>& cells) {
    if (std::none_of(cells.begin(), cells.end(), [](const SelectedCell& cell) { return cell.bound != 0; })) return;
    std::unordered_map<std::uint64_t, std::uint64_t> whole;
    for_each_cell(data, [&](const Cell& cell) { whole[key_of(cell.path, cell.metric)] += cell.value; });
    std::uint64_t members[group_count + 1] = {};
    for (const auto& [key, value] : whole) ++members[group_of(profile, static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key))];
    const bool sums_known = data.series && from.without_totals == 0;
    for (SelectedCell& cell : cells) {
        const auto at = whole.find(key_of(cell.path, cell.metric));
        if (cell.bound == 0 || at == whole.end()) continue;
        const auto limit = [&](std::uint64_t sum) { cell.bound = std::min(cell.bound, std::max(cell.value, sum - std::min(sum, cell.value))); };
        limit(at->second);
        const std::size_t group = group_of(profile, cell.path, cell.metric);
        if (!sums_known || group == group_count) continue;
        limit(from.groups[group]);
        if (members[group] == 1 && from.groups[group] == cell.value) cell.bound = 0;
    }
}

/// The call path with most of a group in the whole phase, of those that were visited in the range if there are any; the root where
/// none has it.
std::uint32_t likeliest_path(const Profile& profile, const PhaseData& data, const std::vector<SelectedCell>& cells, std::size_t group) {
    std::unordered_set<std::uint32_t> visited;
    for (const SelectedCell& cell : cells)
        if (cell.metric == static_cast<std::uint32_t>(Metric::Visits)) visited.insert(cell.path);
    std::unordered_map<std::uint32_t, std::uint64_t> values;
    for_each_cell(data, [&](const Cell& cell) {
        if (group_of(profile, cell.path, cell.metric) == group) values[cell.path] += cell.value;
    });
    std::uint32_t best = 0;
    std::pair<bool, std::uint64_t> most{false, 0};
    for (const auto& [path, value] : values) {
        const std::pair<bool, std::uint64_t> rank{visited.contains(path), value};
        if (rank > most || (rank == most && path < best)) best = path, most = rank;
    }
    return best;
}

std::vector<SelectedCell> put_together(const Profile& profile, const PhaseData& data, const Columns& columns, const Gathered& from) {
    std::vector<SelectedCell> cells;
    add_columns(columns, from, cells);
    const auto add_share = [&](const std::vector<Cell>& of, std::uint64_t size, std::size_t cluster) {
        if (size == 0 || from.selected[cluster] == 0) return;
        for (const Cell& cell : of) {
            const std::uint64_t n = columns.has(cell) ? from.missing[cluster] : from.selected[cluster];
            const auto share = static_cast<std::uint64_t>((Wide{cell.value} * n + size / 2) / size);
            if (share != 0) cells.push_back({cell.path, cell.metric, share, n != size, n != size ? no_bound : 0, n != size});
        }
    };
    for (std::size_t c = 0; c < data.clusters.size(); ++c) add_share(data.clusters[c].cells, data.clusters[c].size, c);
    add_share(data.rest, data.unclustered, data.clusters.size());
    merge(cells);
    if (!data.series || from.without_totals != 0) return cells;

    std::uint64_t sums[group_count + 1] = {};
    for (const SelectedCell& cell : cells) sums[group_of(profile, cell.path, cell.metric)] += cell.value;
    bool lost = false;
    for (std::size_t g = 0; g < group_count; ++g) {
        if (sums[g] == from.groups[g]) continue;
        if (sums[g] == 0) { // nothing that could be scaled: small values that were coded as none
            const auto metric = static_cast<std::uint32_t>(g < category_groups ? 0 : g - category_groups + 1);
            cells.push_back({likeliest_path(profile, data, cells, g), metric, from.groups[g], true, no_bound, true});
            lost = true;
            continue;
        }
        // What is known exactly stays (visits to calls and named regions), if the others can make up the difference.
        std::vector<SelectedCell*> group, estimated;
        std::uint64_t estimated_sum = 0;
        for (SelectedCell& cell : cells) {
            if (group_of(profile, cell.path, cell.metric) != g) continue;
            group.push_back(&cell);
            if (cell.estimated) {
                estimated.push_back(&cell);
                estimated_sum += cell.value;
            }
        }
        const std::uint64_t exact = sums[g] - estimated_sum;
        if (estimated_sum != 0 && exact <= from.groups[g])
            scale(estimated, estimated_sum, from.groups[g] - exact);
        else
            scale(group, sums[g], from.groups[g]);
    }
    if (lost)
        merge(cells);
    else
        erase_nothing(cells);
    return cells;
}

/// Whether the series has the whole-iteration values of all iterations from `first` to before `end`.
bool has_totals(const PhaseData& data, std::uint64_t first, std::uint64_t end) {
    std::uint64_t at = 0;
    bool has_all = true;
    data.series->for_each_chunk([&](const SeriesData::Chunk& chunk) {
        if (!chunk.has_totals && chunk.iterations != 0 && at < end && at + chunk.iterations > first) has_all = false;
        at += chunk.iterations;
    });
    // Single iterations are unknown only where others had left values behind, because they were not clustered.
    if (!has_all || at < end || data.unclustered == 0) return has_all && at >= end;
    SeriesReader reader(*data.series, false);
    for (std::uint64_t i = reader.skip_before(first); i < end; ++i)
        if (!reader.next() || (i >= first && !reader.has_totals())) return false;
    return true;
}

} // namespace

bool has_exact_sums(const PhaseData& data) { return data.series && has_totals(data, 0, data.cluster_of_iteration.size()); }

std::vector<SelectedCell> selected_cells(const PhaseData& data) {
    std::vector<SelectedCell> cells;
    for_each_cell(data, [&](const Cell& cell) { cells.push_back({cell.path, cell.metric, cell.value, false, 0}); });
    merge(cells);
    return cells;
}

std::vector<std::vector<SelectedCell>> selected_cells(const Profile& profile, const PhaseData& data, std::span<const IterationRange> ranges) {
    std::vector<std::size_t> group_of(ranges.size());
    std::iota(group_of.begin(), group_of.end(), std::size_t{0});
    return selected_cells(profile, data, ranges, group_of, ranges.size());
}

std::vector<std::vector<SelectedCell>> selected_cells(const Profile& profile, const PhaseData& data, std::span<const IterationRange> ranges,
                                                      std::span<const std::size_t> group_of, std::size_t groups) {
    const std::uint64_t iterations = data.cluster_of_iteration.size();
    if (ranges.size() == 1 && ranges[0].first == 0 && ranges[0].last >= iterations - 1 && iterations != 0) {
        std::vector<std::vector<SelectedCell>> cells(groups);
        cells[group_of[0]] = selected_cells(data);
        return cells;
    }
    const Columns columns(data);
    std::vector<Gathered> gathered(groups);
    for (Gathered& g : gathered) {
        g.selected.resize(data.clusters.size() + 1);
        g.missing.resize(data.clusters.size() + 1);
        g.sums.resize(columns.list().size());
        g.occurs.resize(columns.list().size());
    }
    std::optional<SeriesReader> reader;
    if (data.series) reader.emplace(*data.series);
    std::size_t r = 0;
    const std::uint64_t start = ranges.empty() ? iterations : ranges[0].first;
    for (std::uint64_t i = reader ? reader->skip_before(start) : start; i < iterations; ++i) {
        const bool read = reader && reader->next();
        while (r < ranges.size() && ranges[r].last < i) ++r;
        if (r == ranges.size()) break;
        if (i < ranges[r].first) continue;
        Gathered& g = gathered[group_of[r]];
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
        reader->for_each_cell([&](std::size_t number, std::uint64_t value) {
            g.sums[number] += value;
            ++g.occurs[number];
        });
    }
    std::vector<std::vector<SelectedCell>> cells;
    for (const Gathered& g : gathered) limit_bounds(profile, data, g, cells.emplace_back(put_together(profile, data, columns, g)));
    return cells;
}

bool sums_are_exact(const PhaseData& data, IterationRange range) {
    const std::uint64_t iterations = data.cluster_of_iteration.size();
    if (iterations == 0 || range.first >= iterations || (range.first == 0 && range.last >= iterations - 1)) return true;
    if (!data.series) return false;
    return has_totals(data, range.first, std::min(range.last, iterations - 1) + 1);
}

} // namespace libprofile::tools
