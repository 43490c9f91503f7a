#include "tools/reader/unify.hpp"

#include "tools/reader/location_parts.hpp"
#include "tools/reader/loop_phases.hpp"
#include "tools/reader/whole_ranks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace libprofile::tools {

namespace {

void erase_samples(Location& location) {
    const auto erase = [](std::vector<Cell>& cells) {
        std::erase_if(cells, [](const Cell& cell) { return cell.metric == static_cast<std::uint32_t>(Metric::Samples); });
    };
    for (PhaseData& data : location.phases) {
        for (Cluster& cluster : data.clusters) erase(cluster.cells);
        erase(data.rest);
    }
}

class Unifier {
  public:
    void add(RawFile& file);
    Profile finish();

  private:
    void add_rank(RawFile& file, std::uint32_t rank, RawRank& raw, const std::vector<std::uint32_t>& metrics);
    const std::vector<std::uint32_t>& nodes_of(const RawFile& file, const RawRank& raw, const LocationRecord& location,
                                               std::optional<std::optional<TableNumbers>>& own);
    std::vector<std::uint32_t> through_map(const RawFile& file, std::uint32_t rank, std::uint32_t thread) const;

    Profile profile_;
    Numbering numbering_{profile_};
    ProfileNotes notes_;
    std::vector<StoredName> names_;
    std::vector<StoredLoops> code_loops_;
    std::set<std::uint32_t> ranks_seen_;
    std::map<std::uint32_t, std::vector<Cell>> witnesses_; // by rank: times and visits of those that were not chosen
    std::vector<std::uint32_t> own_nodes_;                 // of the location that is being added, when it has a tree of its own
    // For the file that is being added:
    std::vector<std::uint32_t> job_nodes_;                                                       // by node of the job's tree; empty: it has none
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> mapped_nodes_; // by map, which many locations share
    std::map<const void*, std::shared_ptr<std::vector<std::uint32_t>>> shared_nodes_;            // by table: for events that are left in the file
    bool selected_ = false;                                                                      // parts were left out on purpose
    bool has_job_ = false;
};

/// `own`: the numbers of the rank's own tables, found once for all of its threads.
const std::vector<std::uint32_t>& Unifier::nodes_of(const RawFile& file, const RawRank& raw, const LocationRecord& location,
                                                    std::optional<std::optional<TableNumbers>>& own) {
    if (location.paths_in == static_cast<std::uint64_t>(PathsIn::OwnTree)) {
        if (!own) own = numbering_.numbers_of(raw.tables);
        return own_nodes_ = numbering_.nodes_of(raw.tables, *own, static_cast<std::uint32_t>(location.thread));
    }
    const std::pair key(static_cast<std::uint32_t>(location.map_rank), static_cast<std::uint32_t>(location.map_thread));
    const auto [known, is_new] = mapped_nodes_.try_emplace(key);
    if (is_new) known->second = through_map(file, key.first, key.second);
    return known->second;
}

/// Returns an empty list if that map is missing, or leads out of the job's tree.
std::vector<std::uint32_t> Unifier::through_map(const RawFile& file, std::uint32_t rank_number, std::uint32_t thread) const {
    const auto rank = file.ranks.find(rank_number);
    if (rank == file.ranks.end() || job_nodes_.empty()) return {};
    const auto map = rank->second.node_maps.find(thread);
    if (map == rank->second.node_maps.end()) return {};
    std::vector<std::uint32_t> nodes = {0};
    nodes.reserve(map->second.size() + 1);
    for (const std::uint32_t node : map->second) {
        if (node >= job_nodes_.size()) return {};
        nodes.push_back(job_nodes_[node]);
    }
    return nodes;
}

void Unifier::add_rank(RawFile& file, std::uint32_t rank, RawRank& raw, const std::vector<std::uint32_t>& metrics) {
    if (ranks_seen_.contains(rank)) {
        if (raw.info && raw.info->checkpoint) return; // the live file of a rank that came to its end
        notes_.note(fmt::format("{}: rank {} is in another file too; this one is not used", file.name, rank));
        return;
    }
    std::map<std::uint32_t, LocationParts> parts;
    for (RawPhase& p : raw.phases) parts[p.thread].phases.push_back(&p);
    for (RawSeries& series : raw.series) parts[series.thread].series.push_back(&series);
    for (RawInside& inside : raw.insides) parts[inside.thread].insides.push_back(&inside);
    for (const RawBegins& begins : raw.begins) parts[begins.thread].begins.push_back(&begins);
    for (RawSequences& sequences : raw.sequences) parts[sequences.thread].sequences.push_back(&sequences);
    std::optional<std::optional<TableNumbers>> own;
    std::map<std::uint32_t, std::uint32_t> phases_of_main;
    for (const auto& [thread, record] : raw.locations) {
        const std::vector<std::uint32_t>& nodes = nodes_of(file, raw, record, own);
        if (nodes.empty()) {
            notes_.lose(fmt::format("{}: the data of rank {} thread {} are lost, because the tables of its call paths are missing or do "
                                    "not fit together",
                                    file.name, rank, thread));
            continue;
        }
        Location location{rank, thread, record.wall_ns, record.complete != 0, {}, {}, {}};
        LocationBuilder builder(file.name, profile_, numbering_, notes_);
        builder.take_phases(parts[thread], location, {nodes, metrics});
        if (file.samples_unwanted) erase_samples(location);
        if (raw.is_witness) {
            for (const PhaseData& data : location.phases) for_each_cell(data, [&](const Cell& cell) { witnesses_[rank].push_back(cell); });
            ranks_seen_.insert(rank);
            continue;
        }
        builder.attach_series(parts[thread], location, {nodes, metrics});
        builder.attach_insides(parts[thread], location);
        builder.attach_begins(parts[thread], location);
        builder.attach_sequences(parts[thread], location, nodes);
        if (const auto partners = raw.partners.find(thread); partners != raw.partners.end()) builder.attach_partners(partners->second, location, nodes);
        if (const auto trace = raw.traces.find(thread); trace != raw.traces.end()) {
            if (const auto waits = raw.waits.find(thread); waits != raw.waits.end()) {
                trace->second.waits = std::move(waits->second.waits);
                trace->second.waits_dropped = waits->second.waits_dropped;
                trace->second.longest_dropped_ns = waits->second.longest_dropped_ns;
            }
            builder.attach_trace(trace->second, location, nodes);
        }
        if (thread == 0) phases_of_main = builder.phase_of_number();
        if (const auto events = raw.events.find(thread); events != raw.events.end()) builder.attach_events(events->second, location, nodes, phases_of_main);
        if (const auto left = raw.left_events.find(thread); left != raw.left_events.end()) {
            location.left_events = std::move(left->second);
            std::shared_ptr<std::vector<std::uint32_t>>& shared = shared_nodes_[&nodes == &own_nodes_ ? nullptr : &nodes];
            if (!shared || &nodes == &own_nodes_) shared = std::make_shared<std::vector<std::uint32_t>>(nodes);
            location.left_events->paths = shared;
            location.left_events->phases = phases_of_main;
        }
        if (const auto search = raw.loop_searches.find(thread); search != raw.loop_searches.end()) location.loop_search = std::move(search->second);
        if (!file.selected) builder.check_sums(location);
        profile_.locations.push_back(std::move(location));
        ranks_seen_.insert(rank);
    }
    if (raw.is_witness) return;
    if (!ranks_seen_.contains(rank)) {
        if (raw.locations.empty() && (raw.info || !raw.phases.empty()))
            notes_.lose(fmt::format("{}: the data of rank {} are lost, because the records of its threads are missing", file.name, rank));
        return;
    }
    if (!raw.info) notes_.lose(fmt::format("{}: the record of rank {} is missing", file.name, rank));
    profile_.ranks[rank] = raw.info.value_or(RankInfo{});
    profile_.ranks[rank].regions = raw.regions;
    profile_.ranks[rank].openmp = raw.openmp;
    const ShortThreadsRecord short_threads = raw.short_threads.value_or(ShortThreadsRecord{});
    profile_.ranks[rank].threads_short = short_threads.threads;
    profile_.ranks[rank].threads_short_ns = short_threads.cpu_ns;
    profile_.region_names.merge(raw.region_names);
    profile_.ranks[rank].affinity = std::move(raw.affinity);
    profile_.ranks[rank].pages = std::move(raw.pages);
    profile_.ranks[rank].machine = std::move(raw.machine);
    profile_.ranks[rank].clock = raw.clock;
    if (const std::uint64_t threads = profile_.ranks[rank].threads; threads > raw.locations.size())
        notes_.lose(fmt::format("{}: rank {} had {} threads, but only {} are there", file.name, rank, threads, raw.locations.size()));
}

void Unifier::add(RawFile& file) {
    for (const std::string& damage : file.damages.told()) notes_.lose(fmt::format("{}: {}", file.name, damage));
    selected_ = selected_ || file.selected;
    if (file.partial) notes_.lose(fmt::format("{}: was not finished", file.name));
    if (file.job) {
        if (!has_job_) profile_.job = *file.job;
        has_job_ = true;
        profile_.job.ranks = std::max(profile_.job.ranks, file.job->ranks);
        if (file.job->start_unix_ns != 0 && file.job->start_unix_ns < profile_.job.start_unix_ns) profile_.job.start_unix_ns = file.job->start_unix_ns;
    }
    names_.insert(names_.end(), std::make_move_iterator(file.names.begin()), std::make_move_iterator(file.names.end()));
    code_loops_.insert(code_loops_.end(), std::make_move_iterator(file.code_loops.begin()), std::make_move_iterator(file.code_loops.end()));
    if (file.ranks.empty()) return;
    if (!file.metrics) {
        notes_.lose(fmt::format("{}: its data are lost, because its metric table is missing", file.name));
        return;
    }
    std::vector<std::uint32_t> metrics;
    for (const MetricInfo& m : *file.metrics) metrics.push_back(numbering_.metric(m));
    job_nodes_ = numbering_.nodes_of(file.tables, numbering_.numbers_of(file.tables), 0);
    mapped_nodes_.clear();
    shared_nodes_.clear();
    for (auto& [rank, raw] : file.ranks) add_rank(file, rank, raw, metrics);
}

Profile Unifier::finish() {
    if (profile_.locations.empty()) throw ReadError(notes_.empty() ? "it holds no data of any rank" : notes_.told().front());
    const std::uint64_t highest = std::uint64_t{*ranks_seen_.rbegin()} + 1;
    if (!has_job_) notes_.lose("the job record is missing");
    if (profile_.job.ranks < highest) profile_.job.ranks = highest;

    for (const std::uint32_t rank : {*ranks_seen_.begin(), *ranks_seen_.rbegin()})
        if (const auto cells = witnesses_.find(rank); profile_.witnesses.ranks.insert(rank).second && cells != witnesses_.end())
            profile_.witnesses.cells.insert(profile_.witnesses.cells.end(), cells->second.begin(), cells->second.end());
    std::sort(profile_.locations.begin(), profile_.locations.end(),
              [](const Location& a, const Location& b) { return std::pair(a.rank, a.thread) < std::pair(b.rank, b.thread); });
    // The phase "" first, the others as they came.
    std::vector<std::uint32_t> order(profile_.phases.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_partition(order.begin(), order.end(), [&](std::uint32_t p) { return profile_.phases[p].kind == PhaseKind::Outside; });
    std::vector<Phase> phases;
    std::vector<std::uint32_t> number(order.size());
    for (const std::uint32_t p : order) {
        number[p] = static_cast<std::uint32_t>(phases.size());
        phases.push_back(std::move(profile_.phases[p]));
    }
    profile_.phases = std::move(phases);
    for (Location& location : profile_.locations) {
        renumber_phases(location, [&](std::uint32_t phase) { return number[phase]; });
        std::sort(location.phases.begin(), location.phases.end(), [](const PhaseData& a, const PhaseData& b) { return a.phase < b.phase; });
    }
    for (StoredName& stored : names_)
        if (const auto site = numbering_.known_site(stored.module, stored.offset)) {
            profile_.sites[*site].name = std::move(stored.name);
            profile_.sites[*site].inlined = std::move(stored.inlined);
        }
    for (StoredLoops& stored : code_loops_)
        if (const auto module = numbering_.known_module(stored.module)) {
            profile_.loops.resize(profile_.modules.size());
            if (profile_.loops[*module].empty()) profile_.loops[*module] = std::move(stored.loops);
        }

    profile_.complete = !notes_.has_losses() && (selected_ || profile_.ranks.size() == profile_.job.ranks);
    for (const auto& [rank, info] : profile_.ranks) profile_.complete = profile_.complete && info.complete;
    profile_.notes = notes_.told();
    return std::move(profile_);
}

} // namespace

Profile unify(std::vector<RawFile> files) {
    prefer_whole_ranks(files);
    Unifier unifier;
    for (RawFile& file : files) unifier.add(file);
    Profile profile = unifier.finish();
    unite_loops(profile);
    return profile;
}

} // namespace libprofile::tools
