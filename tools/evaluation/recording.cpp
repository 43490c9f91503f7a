#include "tools/evaluation/recording.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/reader/counters.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

namespace {

constexpr const char* how_to_record = "record the job with LIBPROFILE_CLUSTERS=off (and LIBPROFILE_MEMORY=2G if its iterations are many)";
constexpr std::uint32_t metric_limit = 1u << libprofile::Cell::metric_bits;

PathKinds kinds_of(const Profile& profile) {
    PathKinds kinds;
    for (const CallPath& path : profile.paths) {
        const bool own = path.kind == NodeKind::Overhead || path.kind == NodeKind::NotRecorded;
        kinds.push_back(is_call(path.kind) ? CellKind::Event : own ? CellKind::Own : CellKind::Sampled);
    }
    return kinds;
}

std::uint32_t choose_phase(const Profile& profile, const std::string& name, Recording& recording) {
    std::vector<std::uint64_t> time(profile.phases.size());
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases) time[data.phase] += data.wall_inclusive_ns;
    std::vector<std::uint32_t> iterated;
    std::string names;
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        if (profile.phases[p].kind != PhaseKind::Iterations) continue;
        iterated.push_back(p);
        names += (names.empty() ? "" : ", ") + profile.phases[p].name;
    }
    if (iterated.empty())
        throw NotRecordedInFull("the profile has no iterated phase; mark the loop with profile_iteration_begin and "
                                "profile_iteration_end (docs/getting-started.md)");
    auto chosen = std::max_element(iterated.begin(), iterated.end(), [&](std::uint32_t a, std::uint32_t b) {
        const bool is_frame = profile.phases[a].is_frame;
        return is_frame != profile.phases[b].is_frame ? is_frame : time[a] < time[b];
    });
    if (!name.empty()) chosen = std::find_if(iterated.begin(), iterated.end(), [&](std::uint32_t p) { return profile.phases[p].is_called(name); });
    if (chosen == iterated.end()) throw NotRecordedInFull(fmt::format("there is no iterated phase \"{}\"; there are: {}", name, names));
    recording.phase = profile.phases[*chosen].name;
    for (const std::uint32_t p : iterated)
        if (p != *chosen) recording.other_phases.push_back(profile.phases[p].name);
    return *chosen;
}

/// Every iteration must be a cluster of its own.
void check(const PhaseData& data, const Recording& recording, const Location& location) {
    const auto iterations = static_cast<std::uint64_t>(data.cluster_of_iteration.size());
    const bool shared = std::any_of(data.clusters.begin(), data.clusters.end(), [](const Cluster& c) { return c.size != 1; });
    if (data.unclustered != 0)
        throw NotRecordedInFull(fmt::format("rank {} had no memory for {} of {} iterations of \"{}\"; record with a larger "
                                            "LIBPROFILE_MEMORY (the default is 256M)",
                                            location.rank, data.unclustered, iterations, recording.phase));
    if (shared || data.clusters.size() != iterations)
        throw NotRecordedInFull(fmt::format("the iterations of \"{}\" are already clustered (rank {}: {} "
                                            "iterations in {} clusters), so there is "
                                            "nothing to compare with; {}",
                                            recording.phase, location.rank, iterations, data.clusters.size(), how_to_record));
}

using PathSet = std::vector<std::uint32_t>;

/// The event paths that an iteration visited. MPI_Pcontrol is no part of the structure in the runtime either.
PathSet visited_events(const Profile& profile, const std::vector<Cell>& cells) {
    PathSet paths;
    for (const Cell& cell : cells) {
        const CallPath& path = profile.paths[cell.path];
        if (counts_for_structure(path.kind) && cell.metric == static_cast<std::uint32_t>(Metric::Visits) &&
            (!is_call(path.kind) || profile.functions[path.target].name != "MPI_Pcontrol"))
            paths.push_back(cell.path);
    }
    return paths; // sorted as the cells are
}

/// Strong classes are those of the runtime, which alone knows which visits are left out of them (unsuccessful tests);
/// where it was told to use others, they follow from the visits of the cells.
std::vector<std::uint32_t> strong_classes(const Profile& profile, const PhaseData& data) {
    std::vector<std::uint32_t> classes;
    std::map<std::vector<std::uint64_t>, std::uint32_t> known;
    for (const std::uint32_t c : data.cluster_of_iteration) {
        const Cluster& cluster = data.clusters[c];
        std::vector<std::uint64_t> structure{cluster.equivalence_class};
        if (data.equivalence != Equivalence::Strong) {
            structure.clear();
            for (const Cell& cell : cluster.cells) {
                if (!counts_for_structure(profile.paths[cell.path].kind) || cell.metric != static_cast<std::uint32_t>(Metric::Visits)) continue;
                structure.push_back(cell.path);
                structure.push_back(cell.value);
            }
        }
        classes.push_back(known.emplace(structure, static_cast<std::uint32_t>(known.size())).first->second);
    }
    return classes;
}

/// The file does not say which visits were unsuccessful tests. But all iterations of a strong class made the same others,
/// so a path that one of them lacks was visited by unsuccessful tests only in the rest of the class.
std::vector<std::uint32_t> weak_classes(const Profile& profile, const PhaseData& data, const std::vector<std::uint32_t>& strong) {
    std::map<std::uint32_t, PathSet> common; // by strong class
    for (std::size_t i = 0; i < strong.size(); ++i) {
        PathSet visited = visited_events(profile, data.clusters[data.cluster_of_iteration[i]].cells);
        const auto [entry, is_new] = common.emplace(strong[i], visited);
        if (is_new) continue;
        PathSet both;
        std::set_intersection(entry->second.begin(), entry->second.end(), visited.begin(), visited.end(), std::back_inserter(both));
        entry->second = std::move(both);
    }
    std::map<PathSet, std::uint32_t> known;
    std::vector<std::uint32_t> classes;
    classes.reserve(strong.size());
    for (const std::uint32_t s : strong) classes.push_back(known.emplace(common[s], static_cast<std::uint32_t>(known.size())).first->second);
    return classes;
}

/// Any numbers that are different for different classes serve as signatures.
libprofile::Signature signature_of_class(std::uint32_t number) { return {{mix(2 * std::uint64_t{number} + 1), mix(2 * std::uint64_t{number} + 2)}}; }

RecordedIteration recorded(const Profile& profile, const PhaseData& data, std::size_t iteration) {
    RecordedIteration result;
    const std::vector<Cell>& cells = data.clusters[data.cluster_of_iteration[iteration]].cells;
    for (const Cell& cell : cells)
        if (cell.metric < metric_limit) result.cells.push_back({libprofile::Cell::make_key(cell.path, cell.metric), cell.value});
    std::sort(result.cells.begin(), result.cells.end(), [](auto& a, auto& b) { return a.key < b.key; });
    const MetricValues values = condense(profile, cells);
    std::copy_n(values.begin(), std::min<std::size_t>(values.size(), condensed_size), result.condensed.values);
    result.wall_ns = data.iteration_ns[iteration];
    return result;
}

} // namespace

std::size_t Recording::iterations() const {
    std::size_t most = 0;
    for (const RecordedLocation& location : locations) most = std::max(most, location.iterations.size());
    return most;
}

Recording extract_recording(const Profile& profile, const std::string& phase) {
    Recording recording;
    const std::uint32_t chosen = choose_phase(profile, phase, recording);
    if (profile.paths.size() >= (std::size_t{1} << (32 - libprofile::Cell::metric_bits)))
        throw NotRecordedInFull("the profile has more call paths than fit into the cells of the runtime");
    recording.paths = kinds_of(profile);
    recording.counters = static_cast<std::uint32_t>(std::min(chosen_counters(profile.metrics), most_counters));
    for (const Location& location : profile.locations) {
        recording.wall_ns = std::max(recording.wall_ns, location.wall_ns);
        const PhaseData* data = find_phase(&location, chosen);
        if (data == nullptr || data->cluster_of_iteration.empty()) continue;
        check(*data, recording, location);
        RecordedLocation& mine = recording.locations.emplace_back();
        mine.rank = location.rank;
        mine.thread = location.thread;
        mine.strong_class = strong_classes(profile, *data);
        mine.weak_class = weak_classes(profile, *data, mine.strong_class);
        for (std::size_t i = 0; i < data->cluster_of_iteration.size(); ++i) {
            RecordedIteration& iteration = mine.iterations.emplace_back(recorded(profile, *data, i));
            iteration.signatures.strong = signature_of_class(mine.strong_class[i]);
            iteration.signatures.weak = signature_of_class(mine.weak_class[i]);
        }
    }
    if (recording.locations.empty()) throw NotRecordedInFull(fmt::format("no rank has an iteration of \"{}\"", recording.phase));
    const auto ranks =
        static_cast<std::size_t>(std::count_if(recording.locations.begin(), recording.locations.end(), [](const auto& l) { return l.thread == 0; }));
    if (ranks < profile.job.ranks)
        recording.notes.push_back(fmt::format("{} of {} ranks have no iteration of \"{}\"", profile.job.ranks - ranks, profile.job.ranks, recording.phase));
    return recording;
}

} // namespace libprofile::tools
