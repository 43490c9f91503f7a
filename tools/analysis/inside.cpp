#include "tools/analysis/inside.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace libprofile::tools {

namespace {

using Entry = InsideData::Entry;
using Wide = unsigned __int128;

constexpr int most_levels = 64; // as many phases can be open; a damaged profile may have a phase inside itself

std::uint64_t time_of(const std::vector<SelectedCell>& cells) {
    std::uint64_t sum = 0;
    for (const SelectedCell& cell : cells) sum += cell.metric == 0 ? cell.value : 0;
    return sum;
}

/// `value * part / whole`, rounded.
std::uint64_t part_of(std::uint64_t value, std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<std::uint64_t>((Wide{value} * part + whole / 2) / whole);
}

/// What some iterations had of a phase without iterations.
struct Share {
    std::uint64_t count = 0;
    std::uint64_t wall_ns = 0;
};

bool is_time(const Profile& profile, std::uint32_t metric) { return metric == 0 || profile.metrics[metric].unit == "ns"; }

/// The share of a whole phase; its times add up to exactly what they should.
std::vector<SelectedCell> share_of(const Profile& profile, const PhaseData& data, Share share) {
    std::vector<SelectedCell> cells = selected_cells(data);
    share.wall_ns = std::min(share.wall_ns, data.wall_ns);
    share.count = std::min(share.count, data.instances);
    if (share.wall_ns == data.wall_ns && share.count == data.instances) return cells;
    std::uint64_t given = 0;
    SelectedCell* largest = nullptr;
    for (SelectedCell& cell : cells) {
        if (cell.metric == 0 && (largest == nullptr || cell.value > largest->value)) largest = &cell;
        cell.value = is_time(profile, cell.metric) ? part_of(cell.value, share.wall_ns, data.wall_ns) : part_of(cell.value, share.count, data.instances);
        cell.estimated = cell.guessed = true;
        cell.bound = no_bound;
        cell.scaled = true;
        given += cell.metric == 0 ? cell.value : 0;
    }
    if (largest != nullptr) { // what rounding leaves
        largest->value += share.wall_ns - std::min(given, share.wall_ns);
        largest->value -= std::min(largest->value, given - std::min(given, share.wall_ns));
    }
    return cells;
}

class Gatherer {
  public:
    Gatherer(const Profile& profile, const Location& location, WithInside& result, bool with_samples = false)
        : profile_(profile), location_(location), result_(result), with_samples_(with_samples) {}

    /// @param targets the ranges' positions in the result
    void add(const PhaseData& data, std::span<const IterationRange> ranges, const std::vector<std::size_t>& targets, int level) {
        auto lists = selected_cells(profile_, data, ranges, targets, result_.cells.size());
        for (const IterationRange& range : ranges) is_exact_ = is_exact_ && sums_are_exact(data, range);
        for (std::size_t t = 0; t < lists.size(); ++t) put(lists[t], t);
        if (with_samples_) result_.sampled.push_back(sampled_selection(profile_, data, ranges));
        add_inside(data, ranges, targets, level);
    }
    void add_inside(const PhaseData& data, std::span<const IterationRange> ranges, const std::vector<std::size_t>& targets, int level) {
        if (data.inside && level < most_levels) add_inside(*data.inside, ranges, targets, level);
    }
    /// Sums of whole iterations are measured, so the missing part of their time is known.
    bool is_exact() const { return is_exact_; }

  private:
    void put(std::vector<SelectedCell>& cells, std::size_t target) {
        std::vector<SelectedCell>& to = result_.cells[target];
        to.insert(to.end(), cells.begin(), cells.end());
    }

    void add_inside(const InsideData& inside, std::span<const IterationRange> ranges, const std::vector<std::size_t>& targets, int level) {
        struct Inner {
            std::vector<IterationRange> ranges;
            std::vector<std::size_t> targets;
        };
        std::map<std::uint32_t, Inner> iterated;
        std::map<std::pair<std::uint32_t, std::size_t>, Share> shares; // by phase and target
        auto entry = inside.entries.begin();
        for (std::size_t r = 0; r < ranges.size(); ++r) {
            entry = std::lower_bound(entry, inside.entries.end(), ranges[r].first, [](const Entry& e, std::uint64_t i) { return e.iteration < i; });
            for (; entry != inside.entries.end() && entry->iteration <= ranges[r].last; ++entry) {
                if (profile_.phases[entry->phase].kind != PhaseKind::Iterations) {
                    Share& share = shares[{entry->phase, targets[r]}];
                    share.count += entry->count;
                    share.wall_ns += entry->wall_ns;
                    continue;
                }
                Inner& inner = iterated[entry->phase];
                const bool follows = !inner.ranges.empty() && inner.ranges.back().last + 1 == entry->first && inner.targets.back() == targets[r];
                const bool is_later = inner.ranges.empty() || inner.ranges.back().last < entry->first;
                if (entry->count == 0 || !is_later) continue;
                if (follows)
                    inner.ranges.back().last += entry->count;
                else
                    inner.ranges.push_back({entry->first, entry->first + entry->count - 1}), inner.targets.push_back(targets[r]);
            }
        }
        for (const auto& [phase, inner] : iterated)
            if (const PhaseData* data = find_phase(&location_, phase)) add(*data, inner.ranges, inner.targets, level + 1);
        for (const auto& [key, share] : shares)
            if (const PhaseData* data = find_phase(&location_, key.first)) {
                std::vector<SelectedCell> cells = share_of(profile_, *data, share);
                const bool is_scaled = std::any_of(cells.begin(), cells.end(), [](const SelectedCell& cell) { return cell.estimated; });
                if (with_samples_ && !is_scaled) result_.sampled.push_back(sampled_selection(profile_, *data));
                result_.is_scaled = result_.is_scaled || is_scaled;
                put(cells, key.second);
            }
    }

    const Profile& profile_;
    const Location& location_;
    WithInside& result_;
    bool with_samples_;
    bool is_exact_ = true;
};

/// Of so many iterations, from the first, the profile says what lay inside them; of all, where all of their time is their own.
std::uint64_t noted_iterations(const PhaseData& data) {
    const std::uint64_t all = data.iteration_ns.size();
    if (std::accumulate(data.iteration_ns.begin(), data.iteration_ns.end(), std::uint64_t{0}) <= data.wall_ns) return all;
    return data.inside ? std::min(data.inside->known, all) : 0;
}

/// The missing part of the time of iterations. Where not all of it was measured, the notes of the runtime count.
std::uint64_t untold_of(std::uint64_t whole, std::uint64_t told, bool is_measured, bool is_noted) {
    const std::uint64_t missing = whole - std::min(whole, told);
    return is_measured ? missing : is_noted ? 0 : std::max<std::uint64_t>(missing, 1);
}

/// For each iteration of a phase, without what lies inside.
std::vector<MetricValues> own_rows(const Profile& profile, const PhaseData& data, bool& is_exact) {
    std::vector<MetricValues> means;
    const auto add_mean = [&](const std::vector<Cell>& cells, std::uint64_t size) {
        means.push_back(condense(profile, cells));
        for (std::uint64_t& value : means.back()) value = size == 0 ? 0 : (value + size / 2) / size;
    };
    const std::size_t count = metric_rows(profile).size();
    std::vector<MetricValues> rows;
    std::optional<SeriesReader> reader;
    if (data.series) reader.emplace(*data.series, false);
    for (const std::uint32_t cluster : data.cluster_of_iteration) {
        if (reader && reader->next() && reader->has_totals()) {
            rows.push_back(reader->condensed());
            rows.back().resize(count);
            continue;
        }
        is_exact = false;
        if (means.empty()) {
            for (const Cluster& one : data.clusters) add_mean(one.cells, one.size);
            add_mean(data.rest, data.unclustered);
        }
        rows.push_back(means[std::min<std::size_t>(cluster, means.size() - 1)]);
    }
    return rows;
}

struct RowsBelow {
    RowsInside of;
    bool has_measured_times = true;
};
using RowsByPhase = std::map<std::uint32_t, RowsBelow>;

/// `known`: of phases that were asked before; empty while they are asked, so that a file in which phases lie in each other ends it.
void add_rows(const Profile& profile, const Location& location, const PhaseData& data, RowsBelow& below, RowsByPhase& known, int level = 0) {
    RowsInside& result = below.of;
    if (!data.inside && data.wall_inclusive_ns == data.wall_ns) return;
    const std::vector<MetricRow> all = metric_rows(profile);
    result.rows.assign(data.cluster_of_iteration.size(), MetricValues(all.size()));
    result.untold.assign(result.rows.size(), 0);
    std::map<std::uint32_t, std::vector<MetricValues>> inner; // by phase; of one without iterations a single one
    for (const Entry& entry : data.inside ? std::span<const Entry>(data.inside->entries) : std::span<const Entry>()) {
        const PhaseData* phase = find_phase(&location, entry.phase);
        if (phase == nullptr || entry.iteration >= result.rows.size()) continue;
        const bool iterates = profile.phases[entry.phase].kind == PhaseKind::Iterations;
        const auto [at, is_new] = inner.try_emplace(entry.phase);
        if (is_new && iterates) {
            at->second = own_rows(profile, *phase, below.has_measured_times);
            const auto [asked, is_first] = known.try_emplace(entry.phase);
            RowsBelow& deeper = asked->second;
            if (is_first && level < most_levels) add_rows(profile, location, *phase, deeper, known, level + 1);
            below.has_measured_times = below.has_measured_times && deeper.has_measured_times;
            result.is_exact = result.is_exact && deeper.of.is_exact && below.has_measured_times;
            for (std::size_t i = 0; i < std::min(deeper.of.rows.size(), at->second.size()); ++i) add(at->second[i], deeper.of.rows[i]);
        } else if (is_new) {
            at->second.push_back(totals(profile, *phase));
        }
        MetricValues& to = result.rows[entry.iteration];
        if (iterates) {
            const std::vector<std::uint64_t>& deeper = known.at(entry.phase).of.untold;
            for (std::uint64_t i = entry.first; i < std::min<std::uint64_t>(entry.first + entry.count, at->second.size()); ++i) {
                add(to, at->second[i]);
                result.untold[entry.iteration] += i < deeper.size() ? deeper[i] : 0;
            }
            continue;
        }
        if (entry.wall_ns != phase->wall_ns) result.is_exact = false;
        for (std::size_t r = 0; r < all.size(); ++r)
            to[r] += all[r].unit == "ns" ? part_of(at->second[0][r], entry.wall_ns, phase->wall_ns) : part_of(at->second[0][r], entry.count, phase->instances);
    }
    bool is_measured = below.has_measured_times;
    const std::uint64_t noted = noted_iterations(data);
    const std::vector<MetricValues> own = own_rows(profile, data, is_measured);
    for (std::size_t i = 0; i < result.rows.size(); ++i) {
        const std::uint64_t whole = i < data.iteration_ns.size() ? data.iteration_ns[i] : 0;
        result.untold[i] = std::max(result.untold[i], untold_of(whole, own[i][0] + result.rows[i][0], is_measured, i < noted));
    }
}

} // namespace

WithInside cells_with_inside(const Profile& profile, const Location& location, const PhaseData& data, std::span<const IterationRange> ranges,
                             bool with_samples) {
    std::vector<std::size_t> group_of(ranges.size());
    std::iota(group_of.begin(), group_of.end(), std::size_t{0});
    return cells_with_inside(profile, location, data, ranges, group_of, ranges.size(), with_samples);
}

WithInside cells_with_inside(const Profile& profile, const Location& location, const PhaseData& data, std::span<const IterationRange> ranges,
                             const std::vector<std::size_t>& group_of, std::size_t groups, bool with_samples) {
    WithInside result;
    result.cells.resize(groups);
    Gatherer gatherer(profile, location, result, with_samples);
    gatherer.add(data, ranges, group_of, 0);
    result.untold.resize(groups);
    if (data.wall_inclusive_ns == data.wall_ns) return result;
    const std::uint64_t noted = noted_iterations(data), all = data.iteration_ns.size();
    std::vector<std::uint64_t> whole(groups);
    std::vector<bool> is_all_noted(groups, true);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
        const std::uint64_t end = ranges[r].last < all ? ranges[r].last + 1 : all;
        for (std::uint64_t i = ranges[r].first; i < end; ++i) whole[group_of[r]] += data.iteration_ns[i];
        if (end > noted) is_all_noted[group_of[r]] = false;
    }
    for (std::size_t g = 0; g < groups; ++g) {
        const std::uint64_t told = time_of(result.cells[g]);
        if (told == 0 || whole[g] == 0) // times were not read, or there are no iterations
            continue;
        result.untold[g] = untold_of(whole[g], told, gatherer.is_exact(), is_all_noted[g]);
        if (result.untold[g] != 0) result.cells[g].push_back({0, 0, result.untold[g], !gatherer.is_exact(), gatherer.is_exact() ? 0 : no_bound});
    }
    return result;
}

WithInside inside_of_clusters(const Profile& profile, const Location& location, const PhaseData& data) {
    WithInside result;
    const std::size_t clusters = data.clusters.size();
    result.cells.resize(clusters + 1);
    result.untold.resize(clusters + 1);
    if (data.wall_inclusive_ns == data.wall_ns) return result;
    std::vector<IterationRange> runs;
    std::vector<std::size_t> targets;
    std::vector<std::uint64_t> missing(clusters + 1); // of the time
    std::vector<char> is_all_noted(clusters + 1, 1);
    const std::uint64_t noted = noted_iterations(data);
    for (std::uint64_t i = 0; i < data.cluster_of_iteration.size(); ++i) {
        const std::size_t cluster = std::min<std::size_t>(data.cluster_of_iteration[i], clusters);
        if (runs.empty() || targets.back() != cluster) {
            runs.push_back({i, i});
            targets.push_back(cluster);
        }
        runs.back().last = i;
        missing[cluster] += i < data.iteration_ns.size() ? data.iteration_ns[i] : 0;
        is_all_noted[cluster] = is_all_noted[cluster] != 0 && i < noted ? 1 : 0;
    }
    Gatherer gatherer(profile, location, result);
    gatherer.add_inside(data, runs, targets, 0);
    for (std::size_t c = 0; c <= clusters; ++c) {
        std::uint64_t told = time_of(result.cells[c]);
        for (const Cell& cell : c < clusters ? data.clusters[c].cells : data.rest) told += cell.metric == 0 ? cell.value : 0;
        result.untold[c] = missing[c] == 0 ? 0 : untold_of(missing[c], told, gatherer.is_exact(), is_all_noted[c] != 0);
    }
    return result;
}

RowsInside rows_inside(const Profile& profile, const Location& location, const PhaseData& data) {
    RowsBelow result;
    RowsByPhase known;
    known.try_emplace(data.phase);
    add_rows(profile, location, data, result, known);
    return std::move(result.of);
}

std::vector<const PhaseData*> phases_inside(const Location& location, const PhaseData& data) {
    std::vector<const PhaseData*> found;
    std::set<const PhaseData*> known = {&data};
    std::vector<const PhaseData*> open = {&data};
    while (!open.empty()) {
        const PhaseData& outer = *open.back();
        open.pop_back();
        std::set<std::uint32_t> phases;
        if (outer.inside)
            for (const Entry& entry : outer.inside->entries) phases.insert(entry.phase);
        for (const std::uint32_t phase : phases)
            if (const PhaseData* inner = find_phase(&location, phase); inner != nullptr && known.insert(inner).second) {
                found.push_back(inner);
                open.push_back(inner);
            }
    }
    return found;
}

} // namespace libprofile::tools
