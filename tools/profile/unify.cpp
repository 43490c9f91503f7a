#include "tools/profile/unify.hpp"

#include "tools/profile/loop_phases.hpp"
#include "tools/profile/whole_ranks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

namespace libprofile::tools {

namespace {

struct PathKey {
    std::uint32_t parent;
    std::uint32_t target;
    NodeKind kind;
    std::uint64_t address;
    bool operator==(const PathKey&) const = default;
};

/// Mixes like splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
struct KeyHash {
    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }
    std::size_t operator()(const PathKey& k) const {
        const std::uint64_t place = (std::uint64_t{k.parent} << 32) | k.target;
        return mix(mix(place) + k.address + static_cast<std::uint64_t>(k.kind));
    }
    std::size_t operator()(const std::pair<std::uint32_t, std::uint64_t>& site) const {
        return mix(site.second + mix(site.first));
    }
};

class Unifier {
  public:
    Unifier() {
        profile.paths.push_back({});
        for (const CatalogueRow& row : metric_catalogue)
            if (row.id == CatalogueId::Total || row.kind == CatalogueKind::Direct)
                metric({row.name, row.unit, {}});
    }

    void add(RawFile& file);
    Profile finish();

    Profile profile;

  private:
    std::uint32_t metric(const MetricInfo& info);
    std::uint32_t module(const Module& raw);
    std::uint32_t function(const Function& raw);
    std::uint32_t site(std::uint32_t module, std::uint64_t offset);
    std::uint32_t phase(const std::string& name, PhaseKind kind);
    std::uint32_t path(const PathKey& key);
    /// What belongs to one thread.
    struct ThreadParts {
        std::vector<RawPhase*> phases;
        std::vector<RawSeries*> series;
        std::vector<RawInside*> insides;
        std::map<std::uint32_t, std::uint32_t> phase_of_number; // those that were taken
    };
    /// Numbers of the profile by those of a file's tables.
    struct TableNumbers {
        std::vector<std::uint32_t> modules;
        std::map<std::uint64_t, std::uint32_t> functions;
    };
    std::optional<TableNumbers> numbers_of(const RawTables& tables);
    void take_phases(const RawFile& file, ThreadParts& parts, Location& location, const std::vector<std::uint32_t>& nodes,
                     const std::vector<std::uint32_t>& metrics);
    void attach_series(const RawFile& file, const ThreadParts& parts, Location& location, const std::vector<std::uint32_t>& nodes,
                       const std::vector<std::uint32_t>& metrics);
    void attach_insides(const RawFile& file, ThreadParts& parts, Location& location);
    std::optional<const char*> oddity_of_insides(const Location& location) const;
    void add_rank(RawFile& file, std::uint32_t rank, RawRank& raw, const std::vector<std::uint32_t>& metrics);
    /// Node ids of the profile by node ids of a tree. Empty: modules, functions or the tree are missing, or do not fit.
    std::vector<std::uint32_t> nodes_of(const RawTables& tables, const std::optional<TableNumbers>& numbers, std::uint32_t thread);
    const std::vector<std::uint32_t>& nodes_of(const RawFile& file, const RawRank& raw, const LocationRecord& location,
                                               std::optional<std::optional<TableNumbers>>& own);
    std::vector<std::uint32_t> through_map(const RawFile& file, std::uint32_t rank, std::uint32_t thread) const;
    bool map_trace(Trace& trace, const std::vector<std::uint32_t>& nodes) const;
    bool map_tree(const RawTree& tree, const TableNumbers& numbers, std::vector<std::uint32_t>& nodes);
    void check_sums(const std::string& file, const Location& location);
    void note(std::string what) {
        notes_.note([&] { return std::move(what); });
    }
    void lose(std::string what) {
        damaged_ = true;
        note(std::move(what));
    }

    std::map<std::string, std::uint32_t> metrics_;
    std::map<std::string, std::uint32_t> modules_;
    std::map<std::string, std::uint32_t> functions_;
    std::unordered_map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t, KeyHash> sites_;
    std::unordered_map<PathKey, std::uint32_t, KeyHash> paths_;
    std::map<std::pair<std::string, PhaseKind>, std::uint32_t> phases_;
    std::vector<StoredName> names_;
    std::set<std::uint32_t> ranks_seen_;
    std::map<std::uint32_t, std::vector<Cell>> witnesses_; // by rank: times and visits of those that were not chosen
    std::vector<std::uint32_t> depths_ = {0}; // by path: nodes from the root to it
    std::vector<std::uint32_t> own_nodes_;    // of the location that is being added, when it has a tree of its own
    // Of the file that is being added:
    std::vector<std::uint32_t> job_nodes_;    // by node of the job's tree; empty: it has none
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> mapped_nodes_; // by map, which many locations share
    Damages notes_{50};
    bool damaged_ = false;
    bool selected_ = false; // parts were left out on purpose
    bool has_job_ = false;
};

template <class Map, class Key>
std::uint32_t number_of(Map& map, const Key& key, bool& added) {
    const auto [at, inserted] = map.emplace(key, static_cast<std::uint32_t>(map.size()));
    added = inserted;
    return at->second;
}

std::string module_key(const Module& m) {
    return m.build_id.empty() ? "p" + m.path : "b" + m.build_id;
}

std::uint32_t Unifier::metric(const MetricInfo& info) {
    bool added = false;
    const std::uint32_t id = number_of(metrics_, info.name, added);
    if (added)
        profile.metrics.push_back(info);
    return id;
}

std::uint32_t Unifier::module(const Module& raw) {
    bool added = false;
    const std::uint32_t id = number_of(modules_, module_key(raw), added);
    if (added)
        profile.modules.push_back(raw);
    return id;
}

std::uint32_t Unifier::function(const Function& raw) {
    bool added = false;
    const std::uint32_t id = number_of(functions_, raw.name, added);
    if (added)
        profile.functions.push_back(raw);
    return id;
}

std::uint32_t Unifier::site(std::uint32_t module_id, std::uint64_t offset) {
    bool added = false;
    const std::uint32_t id = number_of(sites_, std::pair(module_id, offset), added);
    if (added)
        profile.sites.push_back({module_id, offset, {}, {}});
    return id;
}

std::uint32_t Unifier::phase(const std::string& name, PhaseKind kind) {
    bool added = false;
    const std::uint32_t id = number_of(phases_, std::pair(name, kind), added);
    if (added)
        profile.phases.push_back({name, kind});
    return id;
}

std::uint32_t Unifier::path(const PathKey& key) {
    const auto [at, inserted] = paths_.emplace(key, static_cast<std::uint32_t>(profile.paths.size()));
    if (inserted) {
        profile.paths.push_back({key.parent, key.kind, key.target, key.address});
        depths_.push_back(depths_[key.parent] + 1);
    }
    return at->second;
}

bool Unifier::map_tree(const RawTree& tree, const TableNumbers& numbers, std::vector<std::uint32_t>& nodes) {
    nodes.assign(1, 0);
    nodes.reserve(tree.nodes.size() + 1);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const NodeRecord& raw = tree.nodes[i];
        PathKey key{nodes[i + 1 - raw.parent_distance], 0, static_cast<NodeKind>(raw.kind), 0};
        if (is_in_module(key.kind)) {
            if (raw.a >= numbers.modules.size())
                return false;
            key.target = site(numbers.modules[raw.a], raw.b);
        } else if (is_call(key.kind)) {
            const auto at = numbers.functions.find(raw.a);
            if (at == numbers.functions.end())
                return false;
            key.target = at->second;
        } else if (key.kind == NodeKind::Region) {
            if (raw.a >= static_cast<std::uint64_t>(RegionClass::Count))
                return false;
            key.target = static_cast<std::uint32_t>(raw.a);
            key.address = raw.b;
        } else if (key.kind == NodeKind::Unknown) {
            key.address = raw.b;
        }
        nodes.push_back(path(key));
    }
    return true;
}

bool map_cells(std::vector<Cell>& cells, const std::vector<std::uint32_t>& nodes,
               const std::vector<std::uint32_t>& metrics) {
    for (Cell& cell : cells) {
        if (cell.path >= nodes.size() || cell.metric >= metrics.size())
            return false;
        cell.path = nodes[cell.path];
        cell.metric = metrics[cell.metric];
    }
    return true;
}

/// A path that ended early, at "(quota)", has fewer frames than the sample had: then the ancestor is cut, too.
bool Unifier::map_trace(Trace& trace, const std::vector<std::uint32_t>& nodes) const {
    for (TraceSample& sample : trace.samples) {
        if (sample.path >= nodes.size())
            return false;
        sample.path = nodes[sample.path];
        sample.lca_depth = std::min(sample.lca_depth, depths_[sample.path]);
    }
    return true;
}

std::optional<Unifier::TableNumbers> Unifier::numbers_of(const RawTables& tables) {
    if (!tables.modules || !tables.functions)
        return std::nullopt;
    TableNumbers numbers;
    for (const Module& m : *tables.modules)
        numbers.modules.push_back(module(m));
    for (const auto& [id, f] : *tables.functions)
        numbers.functions[id] = function(f);
    return numbers;
}

std::vector<std::uint32_t> Unifier::nodes_of(const RawTables& tables, const std::optional<TableNumbers>& numbers,
                                             std::uint32_t thread) {
    std::vector<std::uint32_t> nodes;
    const auto tree = tables.trees.find(thread);
    if (numbers && tree != tables.trees.end() && !map_tree(tree->second, *numbers, nodes))
        nodes.clear();
    return nodes;
}

/// `own`: the numbers of the rank's own tables, found once for all of its threads.
const std::vector<std::uint32_t>& Unifier::nodes_of(const RawFile& file, const RawRank& raw, const LocationRecord& location,
                                                    std::optional<std::optional<TableNumbers>>& own) {
    if (location.paths_in == static_cast<std::uint64_t>(PathsIn::OwnTree)) {
        if (!own)
            own = numbers_of(raw.tables);
        return own_nodes_ = nodes_of(raw.tables, *own, static_cast<std::uint32_t>(location.thread));
    }
    const std::pair key(static_cast<std::uint32_t>(location.map_rank), static_cast<std::uint32_t>(location.map_thread));
    const auto [known, is_new] = mapped_nodes_.try_emplace(key);
    if (is_new)
        known->second = through_map(file, key.first, key.second);
    return known->second;
}

/// Empty: that map is not there, or leads out of the job's tree.
std::vector<std::uint32_t> Unifier::through_map(const RawFile& file, std::uint32_t rank_number, std::uint32_t thread) const {
    const auto rank = file.ranks.find(rank_number);
    if (rank == file.ranks.end() || job_nodes_.empty())
        return {};
    const auto map = rank->second.node_maps.find(thread);
    if (map == rank->second.node_maps.end())
        return {};
    std::vector<std::uint32_t> nodes = {0};
    nodes.reserve(map->second.size() + 1);
    for (const std::uint32_t node : map->second) {
        if (node >= job_nodes_.size())
            return {};
        nodes.push_back(job_nodes_[node]);
    }
    return nodes;
}

/// wall = sum of the exclusive times of the phases = per phase, sum of the exclusive times of its call paths.
/// Where that does not hold, blocks are missing (a file can end between two) or the writer was wrong.
void Unifier::check_sums(const std::string& file, const Location& location) {
    std::uint64_t phases = 0;
    for (const PhaseData& data : location.phases) {
        const std::string& name = profile.phases[data.phase].name;
        std::uint64_t time = 0;
        for_each_cell(data, [&](const Cell& cell) {
            if (cell.metric == 0)
                time += cell.value;
        });
        if (time != data.wall_ns)
            lose(fmt::format("{}: rank {} thread {}: the call paths of phase \"{}\" add up to {} ns, its "
                             "wall time is {} ns",
                             file, location.rank, location.thread, name, time, data.wall_ns));
        phases += data.wall_ns;
        std::uint64_t members = data.unclustered;
        for (const Cluster& cluster : data.clusters)
            members += cluster.size;
        if (profile.phases[data.phase].kind == PhaseKind::Iterations && members != data.instances)
            note(fmt::format("{}: rank {} thread {}: phase \"{}\" has {} iterations, but times of {} only", file, location.rank,
                             location.thread, name, members, data.instances));
    }
    if (phases != location.wall_ns)
        lose(fmt::format("{}: rank {} thread {}: the phases add up to {} ns, the wall time is {} ns", file,
                         location.rank, location.thread, phases, location.wall_ns));
}

void Unifier::take_phases(const RawFile& file, ThreadParts& parts, Location& location, const std::vector<std::uint32_t>& nodes,
                          const std::vector<std::uint32_t>& metrics) {
    std::set<std::uint32_t> seen;
    for (RawPhase* p : parts.phases) {
        bool good = map_cells(p->data.rest, nodes, metrics);
        for (Cluster& cluster : p->data.clusters)
            good = good && map_cells(cluster.cells, nodes, metrics);
        p->data.phase = phase(p->name, p->kind);
        const bool twice = seen.contains(p->data.phase);
        if (good && !twice) {
            seen.insert(p->data.phase);
            parts.phase_of_number[p->number] = p->data.phase;
            location.phases.push_back(std::move(p->data));
        } else {
            lose(fmt::format("{}: phase \"{}\" of rank {} thread {} is lost, because {}", file.name, p->name, location.rank,
                             location.thread,
                             twice ? "it occurs twice" : "it refers to call paths or metrics that are not there"));
        }
    }
}

/// Gives the series of a location to its phases.
void Unifier::attach_series(const RawFile& file, const ThreadParts& parts, Location& location,
                            const std::vector<std::uint32_t>& nodes, const std::vector<std::uint32_t>& metrics) {
    std::map<std::uint32_t, PhaseData*> phases; // by phase
    if (!parts.series.empty())
        for (PhaseData& data : location.phases)
            phases.emplace(data.phase, &data);
    const auto map_counters = [&](SeriesData& part) {
        for (std::uint32_t& row : part.counter_rows) {
            const std::size_t metric = metric_count + row - catalogue_size;
            if (metric >= metrics.size() || metrics[metric] < metric_count)
                return false;
            row = static_cast<std::uint32_t>(catalogue_size + metrics[metric] - metric_count);
        }
        return true;
    };
    const auto map = [&](std::vector<SeriesData::Column>& columns) {
        for (SeriesData::Column& column : columns) {
            if (column.path >= nodes.size())
                return false;
            column.path = nodes[column.path];
        }
        return true;
    };
    for (RawSeries* series : parts.series) {
        const auto named = phases_.find(std::pair(series->phase, PhaseKind::Iterations));
        const auto at = named == phases_.end() ? phases.end() : phases.find(named->second);
        const bool good = at != phases.end() && !at->second->series && !series->data.chunks.empty() &&
                          map_counters(series->data) && map(series->data.counts) && map(series->data.times) &&
                          std::all_of(series->data.later.begin(), series->data.later.end(), [&](SeriesData& part) {
                              return map_counters(part) && map(part.counts) && map(part.times);
                          });
        if (good)
            at->second->series = std::move(series->data);
        else
            lose(fmt::format("{}: the values of single iterations of phase \"{}\" of rank {} thread {} are lost, because they do "
                             "not fit to the phase",
                             file.name, series->phase, location.rank, location.thread));
    }
}

/// Gives what lay inside iterations to their phases. Phases that were not chosen are left out.
void Unifier::attach_insides(const RawFile& file, ThreadParts& parts, Location& location) {
    for (RawInside* inside : parts.insides) {
        const auto number = parts.phase_of_number.find(inside->phase);
        if (number == parts.phase_of_number.end())
            continue;
        const auto at = std::find_if(location.phases.begin(), location.phases.end(),
                                     [&](const PhaseData& data) { return data.phase == number->second; });
        bool good = profile.phases[number->second].kind == PhaseKind::Iterations && !at->inside;
        InsideData data;
        data.known = inside->data.known;
        for (InsideData::Entry entry : inside->data.entries) {
            const auto inner = parts.phase_of_number.find(entry.phase);
            if (inner == parts.phase_of_number.end())
                continue;
            entry.phase = inner->second;
            if (profile.phases[entry.phase].kind != PhaseKind::Iterations)
                std::swap(entry.first, entry.wall_ns);
            good = good && entry.phase != number->second && entry.first <= max_id && entry.count <= max_id;
            data.entries.push_back(entry);
        }
        if (good)
            at->inside = std::move(data);
        else
            lose(fmt::format("{}: what lies inside the iterations of phase \"{}\" of rank {} thread {} is lost, because it does not fit to the phase",
                             file.name, profile.phases[number->second].name, location.rank, location.thread));
    }
    if (const auto oddity = oddity_of_insides(location)) {
        for (PhaseData& data : location.phases)
            data.inside.reset();
        lose(fmt::format("{}: what lies inside the iterations of rank {} thread {} is lost, because {}", file.name, location.rank, location.thread, *oddity));
    }
}

/// What no thread does, and readers of such a file would count iterations again and again, or never end.
std::optional<const char*> Unifier::oddity_of_insides(const Location& location) const {
    constexpr int most_levels = 64; // as many phases can be open
    struct Span {
        std::uint64_t first = 0, end = 0;
        std::uint32_t outer = 0; // the phase and the iteration that it lies in
        std::uint64_t iteration = 0;
    };
    std::map<std::uint32_t, std::vector<Span>> spans; // by phase, by first iteration
    for (const PhaseData& data : location.phases)
        if (data.inside)
            for (const InsideData::Entry& entry : data.inside->entries)
                if (entry.count != 0 && profile.phases[entry.phase].kind == PhaseKind::Iterations)
                    spans[entry.phase].push_back({entry.first, entry.first + entry.count, data.phase, entry.iteration});
    for (auto& [phase, list] : spans) {
        std::sort(list.begin(), list.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
        if (std::adjacent_find(list.begin(), list.end(), [](const Span& a, const Span& b) { return b.first < a.end; }) != list.end())
            return "some lie in two others";
    }
    const auto around = [&](std::uint32_t phase, std::uint64_t iteration) -> const Span* {
        const auto of_phase = spans.find(phase);
        if (of_phase == spans.end())
            return nullptr;
        const std::vector<Span>& list = of_phase->second;
        const auto after = std::upper_bound(list.begin(), list.end(), iteration, [](std::uint64_t i, const Span& s) { return i < s.first; });
        return after == list.begin() || iteration >= (after - 1)->end ? nullptr : &*(after - 1);
    };
    for (const auto& [phase, list] : spans)
        for (const Span& span : list) {
            const Span* next = &span;
            for (int level = 0; (next = around(next->outer, next->iteration)) != nullptr; ++level)
                if (level == most_levels)
                    return "some lie in themselves, or deeper than phases can";
        }
    return std::nullopt;
}

void Unifier::add_rank(RawFile& file, std::uint32_t rank, RawRank& raw, const std::vector<std::uint32_t>& metrics) {
    if (ranks_seen_.contains(rank)) {
        if (raw.info && raw.info->checkpoint)
            return; // the live file of a rank that came to its end
        note(fmt::format("{}: rank {} is in another file too; this one is not used", file.name, rank));
        return;
    }
    std::map<std::uint32_t, ThreadParts> parts;
    for (RawPhase& p : raw.phases)
        parts[p.thread].phases.push_back(&p);
    for (RawSeries& series : raw.series)
        parts[series.thread].series.push_back(&series);
    for (RawInside& inside : raw.insides)
        parts[inside.thread].insides.push_back(&inside);
    std::optional<std::optional<TableNumbers>> own;
    for (const auto& [thread, record] : raw.locations) {
        const std::vector<std::uint32_t>& nodes = nodes_of(file, raw, record, own);
        if (nodes.empty()) {
            lose(fmt::format("{}: the data of rank {} thread {} are lost, because the tables of its call paths are missing or do "
                             "not fit together",
                             file.name, rank, thread));
            continue;
        }
        Location location{rank, thread, record.wall_ns, record.complete != 0, {}, {}, {}};
        take_phases(file, parts[thread], location, nodes, metrics);
        if (raw.is_witness) {
            for (const PhaseData& data : location.phases)
                for_each_cell(data, [&](const Cell& cell) { witnesses_[rank].push_back(cell); });
            ranks_seen_.insert(rank);
            continue;
        }
        attach_series(file, parts[thread], location, nodes, metrics);
        attach_insides(file, parts[thread], location);
        if (const auto trace = raw.traces.find(thread); trace != raw.traces.end()) {
            if (map_trace(trace->second, nodes))
                location.trace = std::move(trace->second);
            else
                lose(fmt::format("{}: the trace of rank {} thread {} is lost, because it refers to call "
                                 "paths that are not there",
                                 file.name, rank, thread));
        }
        if (const auto search = raw.loop_searches.find(thread); search != raw.loop_searches.end())
            location.loop_search = std::move(search->second);
        if (!file.selected)
            check_sums(file.name, location);
        profile.locations.push_back(std::move(location));
        ranks_seen_.insert(rank);
    }
    if (raw.is_witness)
        return;
    if (!ranks_seen_.contains(rank)) {
        if (raw.locations.empty() && (raw.info || !raw.phases.empty()))
            lose(fmt::format("{}: the data of rank {} are lost, because the records of its threads are missing", file.name, rank));
        return;
    }
    if (!raw.info)
        lose(fmt::format("{}: the record of rank {} is missing", file.name, rank));
    profile.ranks[rank] = raw.info.value_or(RankInfo{});
    profile.ranks[rank].regions = raw.regions;
    profile.ranks[rank].openmp = raw.openmp;
    const ShortThreadsRecord short_threads = raw.short_threads.value_or(ShortThreadsRecord{});
    profile.ranks[rank].threads_short = short_threads.threads;
    profile.ranks[rank].threads_short_ns = short_threads.cpu_ns;
    profile.region_names.merge(raw.region_names);
    profile.ranks[rank].place = std::move(raw.place);
    if (const std::uint64_t threads = profile.ranks[rank].threads; threads > raw.locations.size())
        lose(fmt::format("{}: rank {} had {} threads, but only {} are there", file.name, rank, threads,
                         raw.locations.size()));
}

void Unifier::add(RawFile& file) {
    for (const std::string& damage : file.damages.told())
        lose(fmt::format("{}: {}", file.name, damage));
    selected_ = selected_ || file.selected;
    if (file.partial)
        lose(fmt::format("{}: was not finished", file.name));
    if (file.job) {
        if (!has_job_)
            profile.job = *file.job;
        has_job_ = true;
        profile.job.ranks = std::max(profile.job.ranks, file.job->ranks);
        if (file.job->start_unix_ns != 0 && file.job->start_unix_ns < profile.job.start_unix_ns)
            profile.job.start_unix_ns = file.job->start_unix_ns;
    }
    names_.insert(names_.end(), std::make_move_iterator(file.names.begin()),
                  std::make_move_iterator(file.names.end()));
    if (file.ranks.empty())
        return;
    if (!file.metrics) {
        lose(fmt::format("{}: its data are lost, because its metric table is missing", file.name));
        return;
    }
    std::vector<std::uint32_t> metrics;
    for (const MetricInfo& m : *file.metrics)
        metrics.push_back(metric(m));
    job_nodes_ = nodes_of(file.tables, numbers_of(file.tables), 0);
    mapped_nodes_.clear();
    for (auto& [rank, raw] : file.ranks)
        add_rank(file, rank, raw, metrics);
}

Profile Unifier::finish() {
    if (profile.locations.empty())
        throw ReadError(notes_.empty() ? "it holds no data of any rank" : notes_.told().front());
    const std::uint64_t highest = std::uint64_t{*ranks_seen_.rbegin()} + 1;
    if (!has_job_)
        lose("the job record is missing");
    if (profile.job.ranks < highest)
        profile.job.ranks = highest;

    for (const std::uint32_t rank : {*ranks_seen_.begin(), *ranks_seen_.rbegin()})
        if (const auto cells = witnesses_.find(rank); profile.witnesses.ranks.insert(rank).second && cells != witnesses_.end())
            profile.witnesses.cells.insert(profile.witnesses.cells.end(), cells->second.begin(), cells->second.end());
    std::sort(profile.locations.begin(), profile.locations.end(), [](const Location& a, const Location& b) {
        return std::pair(a.rank, a.thread) < std::pair(b.rank, b.thread);
    });
    // The phase "" first, the others as they came.
    std::vector<std::uint32_t> order(profile.phases.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_partition(order.begin(), order.end(),
                          [&](std::uint32_t p) { return profile.phases[p].kind == PhaseKind::Outside; });
    std::vector<Phase> phases;
    std::vector<std::uint32_t> place(order.size());
    for (const std::uint32_t p : order) {
        place[p] = static_cast<std::uint32_t>(phases.size());
        phases.push_back(std::move(profile.phases[p]));
    }
    profile.phases = std::move(phases);
    for (Location& location : profile.locations) {
        renumber_phases(location, [&](std::uint32_t phase) { return place[phase]; });
        std::sort(location.phases.begin(), location.phases.end(),
                  [](const PhaseData& a, const PhaseData& b) { return a.phase < b.phase; });
    }
    for (StoredName& stored : names_) {
        const auto m = modules_.find(module_key(stored.module));
        if (m == modules_.end())
            continue;
        const auto s = sites_.find(std::pair(m->second, stored.offset));
        if (s == sites_.end())
            continue;
        profile.sites[s->second].name = std::move(stored.name);
        profile.sites[s->second].inlined = std::move(stored.inlined);
    }

    profile.complete = !damaged_ && (selected_ || profile.ranks.size() == profile.job.ranks);
    for (const auto& [rank, info] : profile.ranks)
        profile.complete = profile.complete && info.complete;
    profile.notes = notes_.told();
    return std::move(profile);
}

} // namespace

Profile unify(std::vector<RawFile> files) {
    prefer_whole_ranks(files);
    Unifier unifier;
    for (RawFile& file : files)
        unifier.add(file);
    Profile profile = unifier.finish();
    unite_loops(profile);
    return profile;
}

} // namespace libprofile::tools
