#include "tools/report/json.hpp"

#include "tools/analysis/affinity.hpp"
#include "tools/analysis/clock_axis.hpp"
#include "tools/analysis/cost.hpp"
#include "tools/analysis/kinds.hpp"
#include "tools/analysis/loops.hpp"
#include "tools/analysis/losses.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/answers.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/loop_names.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/json_call_paths.hpp"
#include "tools/report/json_events.hpp"
#include "tools/report/json_regions.hpp"
#include "tools/report/json_sequences.hpp"
#include "tools/report/json_teams.hpp"
#include "tools/text/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;
using Locations = std::vector<const Location*>;

/// value(data) per location, `absent` where there are no data.
template <class Value> Json per_location(const Locations& locations, std::uint32_t phase, const Json& absent, Value&& value) {
    Json list = Json::array();
    for (const Location* location : locations) {
        const PhaseData* data = find_phase(location, phase);
        list.push_back(data == nullptr ? absent : Json(value(*data)));
    }
    return list;
}

std::uint64_t highest(const Json& list) {
    std::uint64_t value = 0;
    for (const Json& item : list) value = std::max(value, item.get<std::uint64_t>());
    return value;
}

Json metrics_json(const Profile& profile, const Locations& locations, const std::vector<MetricValues>& values) {
    const std::vector<MetricRow> rows = metric_rows(profile);
    Json list = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Json total = Json::array();
        std::size_t metric = metric_count; // a counter that this row is of
        while (metric < profile.metrics.size() && profile.metrics[metric].name != rows[i].name) ++metric;
        for (std::size_t l = 0; l < locations.size(); ++l) {
            const bool is_known = metric >= profile.metrics.size() || values[l][i] != 0 || locations[l] == nullptr ||
                                  had_counter(profile, locations[l]->rank, locations[l]->thread, metric);
            total.push_back(is_known ? Json(values[l][i]) : Json());
        }
        Json parent;
        if (rows[i].parent >= 0) parent = rows[static_cast<std::size_t>(rows[i].parent)].name;
        list.push_back({{"name", rows[i].name},
                        {"unit", rows[i].unit},
                        {"label", rows[i].label},
                        {"description", rows[i].description},
                        {"parent", parent},
                        {"total", std::move(total)}});
    }
    return list;
}

/// The clusters of a phase with the sums of all metrics that are not 0.
Json clusters_json(const Profile& profile, const PhaseData& data) {
    const std::vector<MetricRow> rows = metric_rows(profile);
    Json list = Json::array();
    for (const Cluster& cluster : data.clusters) {
        const MetricValues sums = condense(profile, cluster.cells);
        Json metrics = Json::object();
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (sums[i] != 0) metrics[rows[i].name] = sums[i];
        list.push_back({{"size", cluster.size}, {"class", cluster.equivalence_class}, {"metrics", std::move(metrics)}});
    }
    return list;
}

/// How far the coded times and bytes of single iterations are off.
Json accuracy_json(const Profile& profile, const SeriesData& series) {
    Json metrics = Json::object();
    for (std::size_t m = 0; m < metric_count; ++m) {
        const SeriesAccuracyRecord& a = series.accuracy[m];
        if (a.cells == 0 || !may_be_coarse(m)) continue;
        metrics[profile.metrics[m].name] = {{"largest_error", a.largest}, {"sum_of_errors", a.sum}, {"cells", a.cells}, {"largest_value", a.largest_value}};
    }
    return {{"iterations_with_cells", series.iterations_with_cells()},
            {"iterations_with_totals", series.iterations_with_totals()},
            {"metrics", std::move(metrics)}};
}

/// The exact values of every iteration, by metric; null for an iteration that is not known. Visits tell which, whatever there is.
Json series_json(const Profile& profile, const SeriesData& series) {
    const std::vector<MetricRow> rows = metric_rows(profile);
    std::vector<Json> values(rows.size(), Json::array());
    std::vector<bool> occurs(rows.size());
    constexpr auto visits = static_cast<std::size_t>(CatalogueId::Visits);
    SeriesReader reader(series, false);
    while (reader.next())
        for (std::size_t row = 0; row < rows.size(); ++row) {
            if (!series.has_row(row)) continue;
            occurs[row] = occurs[row] || (reader.has_totals() ? reader.condensed()[row] != 0 : row == visits);
            values[row].push_back(reader.has_totals() ? Json(reader.condensed()[row]) : Json());
        }
    Json metrics = Json::object();
    for (std::size_t row = 0; row < rows.size(); ++row)
        if (occurs[row]) metrics[rows[row].name] = std::move(values[row]);
    return metrics;
}

/// Kinds of iteration that ranks have in common, by number, and the ranks that went through the same.
Json kinds_json(const KindsOfPhase& found) {
    Json kinds = Json::array(), sequences = Json::array();
    for (std::uint32_t k = 0; k < found.kinds.size(); ++k) {
        const KindOfIteration& kind = found.kinds[k];
        kinds.push_back({{"name", kind_letters(k)},
                         {"iterations", kind.iterations},
                         {"clusters", kind.clusters},
                         {"mean_time", std::llround(kind.mean_time)},
                         {"computing", kind.compute ? Json(std::llround(*kind.compute)) : Json()}});
    }
    for (const KindSequence& sequence : found.sequences) {
        Json runs = Json::array();
        for (const KindRun& run : sequence.runs) runs.push_back({run.kind == KindRun::none ? Json() : Json(run.kind), run.length});
        sequences.push_back({{"locations", sequence.locations}, {"runs", std::move(runs)}});
    }
    return {{"kinds", std::move(kinds)}, {"sequences", std::move(sequences)}};
}

Json phases_json(const Profile& profile, const Locations& locations, bool with_series) {
    constexpr const char* kinds[] = {"outside", "aggregate", "iterations"};
    constexpr const char* equivalences[] = {"none", "weak", "strong"};
    Json list = Json::array();
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        if (std::none_of(locations.begin(), locations.end(), [&](const Location* location) { return find_phase(location, p) != nullptr; })) continue;
        const auto numbers = [&](const auto& value) { return per_location(locations, p, 0u, [&](const PhaseData& d) { return std::uint64_t{value(d)}; }); };
        const Phase& phase = profile.phases[p];
        Json iterations = numbers([](const PhaseData& d) { return d.instances; });
        Json clusters = numbers([](const PhaseData& d) { return d.clusters.size(); });
        Json entry = {{"name", phase.name}, {"kind", kinds[static_cast<std::size_t>(phase.kind)]}};
        if (!phase.recorded_as.empty()) entry["recorded_as"] = phase.recorded_as;
        if (phase.is_frame) entry["frame"] = true;
        entry["iterations"] = highest(iterations);
        entry["iterations_per_rank"] = std::move(iterations);
        entry["clusters"] = highest(clusters);
        entry["clusters_per_rank"] = std::move(clusters);
        entry["wall_ns"] = numbers([](const PhaseData& d) { return d.wall_ns; });
        entry["wall_inclusive_ns"] = numbers([](const PhaseData& d) { return d.wall_inclusive_ns; });
        entry["call_paths"] = call_paths_json(profile, locations, p);
        if (phase.kind == PhaseKind::Iterations) {
            const Json none = Json::array();
            entry["classes"] = numbers([](const PhaseData& d) { return d.classes; });
            entry["unclustered"] = numbers([](const PhaseData& d) { return d.unclustered; });
            entry["equivalence"] =
                per_location(locations, p, Json(), [&](const PhaseData& d) { return equivalences[static_cast<std::size_t>(d.equivalence)]; });
            entry["iteration_begins"] = per_location(locations, p, none, [](const PhaseData& d) { return d.iteration_begin_ns; });
            entry["iteration_times"] = per_location(locations, p, none, [](const PhaseData& d) { return d.iteration_ns; });
            entry["cluster_of_iteration"] = per_location(locations, p, none, [](const PhaseData& d) { return d.cluster_of_iteration; });
            entry["cluster_profiles"] = per_location(locations, p, none, [&](const PhaseData& d) { return clusters_json(profile, d); });
            const KindsOfPhase found = match_kinds(profile, locations, p);
            Json cluster_names = Json::array();
            for (std::size_t l = 0; l < locations.size(); ++l) {
                const PhaseData* data = find_phase(locations[l], p);
                cluster_names.push_back(data == nullptr ? none : Json(tools::cluster_names(*data, found.of_cluster[l])));
            }
            entry["cluster_names"] = std::move(cluster_names);
            entry["kinds"] = kinds_json(found);
            const auto of_series = [&](const auto& value) {
                return per_location(locations, p, Json(), [&](const PhaseData& d) { return d.series ? value(profile, *d.series) : Json(); });
            };
            entry["accuracy"] = of_series(accuracy_json);
            if (with_series) entry["series"] = of_series(series_json);
            Json order = per_location(locations, p, Json(), [&](const PhaseData& d) { return sequences_json(profile, d, with_series); });
            if (std::any_of(order.begin(), order.end(), [](const Json& one) { return !one.is_null(); })) entry["order"] = std::move(order);
        }
        list.push_back(std::move(entry));
    }
    return list;
}

/// "metrics", "phases" and "self" of a list of locations.
void add_measurements(const Profile& profile, const Locations& locations, bool with_series, Json& to) {
    std::vector<MetricValues> values;
    Json overhead = Json::array();
    std::uint64_t self = 0, wall = 0;
    for (const Location* location : locations) {
        values.push_back(location == nullptr ? MetricValues(metric_rows(profile).size()) : totals(profile, *location));
        overhead.push_back(values.back()[static_cast<std::size_t>(CatalogueId::Overhead)]);
        self += values.back()[static_cast<std::size_t>(CatalogueId::Overhead)];
        wall += values.back()[static_cast<std::size_t>(CatalogueId::Total)];
    }
    to["metrics"] = metrics_json(profile, locations, values);
    to["phases"] = phases_json(profile, locations, with_series);
    const double share = wall == 0 ? 0.0 : static_cast<double>(self) / static_cast<double>(wall);
    to["self"] = {{"ns", std::move(overhead)}, {"share", share}};
}

/// What libprofile took besides time, per rank.
void add_own_costs(const Profile& profile, std::size_t ranks, Json& self) {
    const std::pair<const char*, std::uint64_t RankInfo::*> costs[] = {{"memory_peak", &RankInfo::memory_peak},
                                                                       {"memory_quota", &RankInfo::memory_quota},
                                                                       {"bytes_written", &RankInfo::bytes_written},
                                                                       {"writing_ns", &RankInfo::writing_ns}};
    for (const auto& [name, member] : costs) {
        Json values = Json::array();
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const auto info = profile.ranks.find(rank);
            values.push_back(info == profile.ranks.end() ? std::uint64_t{0} : info->second.*member);
        }
        self[name] = std::move(values);
    }
}

Json job_json(const Profile& profile, const Locations& mains) {
    const Job& job = profile.job;
    Json wall = Json::array(), missing = Json::array(), hosts = Json::array(), configuration = Json::object();
    Json checkpoints = Json::array(), rates = Json::array(), clocks = Json::array();
    for (std::uint32_t rank = 0; rank < mains.size(); ++rank) {
        wall.push_back(mains[rank] == nullptr ? 0 : mains[rank]->wall_ns);
        const auto info = profile.ranks.find(rank);
        hosts.push_back(info == profile.ranks.end() ? std::string() : info->second.host);
        const RankInfo sampled = info == profile.ranks.end() ? RankInfo() : info->second;
        rates.push_back(sampled.rate);
        clocks.push_back(sampling_clock_names[static_cast<std::size_t>(sampled.sampling_clock)]);
        if (info == profile.ranks.end())
            missing.push_back(rank);
        else if (info->second.checkpoint)
            checkpoints.push_back(rank);
    }
    for (std::size_t at = 0; at < job.configuration.size();) {
        const std::size_t end = std::min(job.configuration.find('\n', at), job.configuration.size());
        const std::string line = job.configuration.substr(at, end - at);
        const std::size_t equals = line.find('=');
        if (equals != std::string::npos) configuration[line.substr(0, equals)] = line.substr(equals + 1);
        at = end + 1;
    }
    const std::time_t start = static_cast<std::time_t>(job.start_unix_ns / 1000000000u);
    std::tm utc{};
    const bool dated = job.start_unix_ns != 0 && gmtime_r(&start, &utc) != nullptr;
    return {{"ranks", job.ranks},
            {"mpi", job.mpi},
            {"command", job.command},
            {"complete", profile.complete},
            {"start", dated ? fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc) : std::string()},
            {"start_unix_ns", job.start_unix_ns},
            {"hosts", std::move(hosts)},
            {"executable", job.executable},
            {"folder", job.folder},
            {"version", job.version},
            {"configuration", std::move(configuration)},
            {"wall_ns", std::move(wall)},
            {"sampling_rate", std::move(rates)},
            {"sampling_clock", std::move(clocks)},
            {"missing_ranks", std::move(missing)},
            {"checkpoint_ranks", std::move(checkpoints)},
            {"notes", profile.notes}};
}

/// The loops that were found in a program that marks none.
Json loops_json(const Profile& profile) {
    Json list = Json::array();
    for (const LoopOfRanks& found : loops_of(profile)) {
        const FoundLoop& loop = *found.loop;
        list.push_back({{"phase", loop.phase},
                        {"recorded_as", loop.recorded_as},
                        {"place", site_text(profile, loop, loop.offset)},
                        {"call", loop.call},
                        {"ranks", found.ranks},
                        {"iterations", {found.fewest, found.most}},
                        {"share", found.share},
                        {"sure", found.is_sure()},
                        {"doubts", found.doubts},
                        {"inside", found.around},
                        {"replaced", loop.is(LoopIsReplaced)},
                        {"missed", found.missed},
                        {"moves", loop.moves},
                        {"passes", loop.passes},
                        {"other_place", loop.other_passes == 0 ? "" : site_text(profile, loop, loop.other_offset)},
                        {"other_passes", loop.other_passes}});
    }
    return list;
}

/// Machines, and for each rank with a known affinity where it ran.
Json places_json(const Profile& profile) {
    Json machines = Json::array(), ranks = Json::array();
    const auto number = [](const std::optional<std::uint32_t>& value) { return value ? Json(*value) : Json(); };
    std::map<std::uint64_t, std::size_t> machine_of;
    for (const UsedMachine& machine : used_machines(profile)) {
        std::map<std::uint32_t, Processor> processors;
        for (const std::uint64_t rank : machine.ranks) {
            machine_of[rank] = machines.size();
            for (const Processor& processor : profile.ranks.at(static_cast<std::uint32_t>(rank)).affinity->processors)
                processors.emplace(processor.number, processor);
        }
        Json list = Json::array();
        for (const auto& [n, processor] : processors)
            list.push_back(
                {{"number", n}, {"core", number(processor.core)}, {"package", number(processor.package)}, {"numa_node", number(processor.numa_node)}});
        const MachineInfo& info = machine.info;
        machines.push_back({{"host", machine.host},
                            {"id", info.id},
                            {"model", info.model},
                            {"memory", info.memory},
                            {"packages", info.packages},
                            {"numa_nodes", info.numa_nodes},
                            {"cores", info.cores},
                            {"processors", info.processors},
                            {"used_processors", std::move(list)}});
    }
    for (const auto& [rank, info] : profile.ranks) {
        if (!info.affinity) continue;
        Json threads = Json::array();
        for (const ThreadAffinity& thread : info.affinity->threads) {
            const Processor* last = thread.last ? info.affinity->processor(*thread.last) : nullptr;
            threads.push_back({{"thread", thread.thread},
                               {"allowed", thread.allowed},
                               {"last", number(thread.last)},
                               {"core", last == nullptr ? Json() : number(last->core)},
                               {"numa_node", last == nullptr ? Json() : number(last->numa_node)},
                               {"looks", thread.looks},
                               {"moves", thread.moves}});
        }
        const auto at = machine_of.find(rank);
        ranks.push_back({{"rank", rank}, {"machine", at == machine_of.end() ? Json() : Json(at->second)}, {"threads", std::move(threads)}});
    }
    return {{"machines", std::move(machines)}, {"ranks", std::move(ranks)}};
}

/// What brings the times of ranks to one axis.
Json clocks_json(const Profile& profile, std::size_t ranks) {
    const ClockAxis axis(profile);
    Json list = Json::array();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const ClockAxis::RankClock& clock = axis.clock(rank);
        if (clock.is_common)
            list.push_back({{"begin_ns", clock.begin_ns}, {"own_ns", clock.own_ns}, {"axis_ns", clock.monotonic_ns}, {"uncertainty_ns", clock.uncertainty_ns}});
        else
            list.push_back(nullptr);
    }
    return list;
}

Json losses_json(const Profile& profile, std::size_t ranks) {
    constexpr std::pair<const char*, std::uint64_t RankInfo::*> counters[] = {
        {"samples_taken", &RankInfo::samples_taken}, {"samples_lost", &RankInfo::samples_lost},       {"partial_paths", &RankInfo::partial_paths},
        {"quota_losses", &RankInfo::quota_losses},   {"nesting_repairs", &RankInfo::nesting_repairs}, {"threads_lost", &RankInfo::threads_lost},
        {"requests_lost", &RankInfo::requests_lost}, {"operations_lost", &RankInfo::operations_lost}, {"threads_running", &RankInfo::threads_running},
        {"clocks_lost", &RankInfo::clocks_lost},     {"threads_short", &RankInfo::threads_short},     {"threads_short_ns", &RankInfo::threads_short_ns}};
    Json sums = Json::object(), each = Json::object();
    const auto add = [&](const char* name, const auto& value_of) {
        std::vector<std::uint64_t> values(ranks);
        std::uint64_t sum = 0;
        for (const auto& [rank, info] : profile.ranks) sum += values[rank] = value_of(info);
        sums[name] = sum;
        each[name] = std::move(values);
    };
    for (const auto& [name, member] : counters) add(name, [member = member](const RankInfo& info) { return info.*member; });
    for (std::size_t i = 0; i < skip_reason_count; ++i) add(skip_reasons[i].name, [i](const RankInfo& info) { return info.skipped[i]; });
    sums["per_rank"] = std::move(each);
    Json sentences = Json::array();
    for (const Loss& loss : losses(profile))
        sentences.push_back({{"group", group_name(loss.group)}, {"kind", loss.kind}, {"count", loss.count}, {"sentence", loss.sentence}});
    sums["sentences"] = std::move(sentences);
    return sums;
}

/// How call paths were found, summed over the ranks.
Json path_counts_json(const Profile& profile) {
    Json counts = Json::object();
    for (std::size_t i = 0; i < path_count_count; ++i) {
        std::uint64_t sum = 0;
        for (const auto& [rank, info] : profile.ranks) sum += info.path_counts[i];
        counts[path_count_table[i].name] = sum;
    }
    return counts;
}

Json sum_json(const PartnerRow::Sum& sum) { return {{"messages", sum.messages}, {"bytes", sum.bytes}}; }

Json partners_json(const Profile& profile) {
    Json rows = Json::array();
    std::uint64_t lost = 0;
    for (const Location& location : profile.locations) {
        lost += location.partners.lost;
        for (const PartnerRow& row : location.partners.rows) {
            Json partners = Json::array();
            for (const PartnerRecord& partner : row.partners)
                partners.push_back({{"rank", partner.rank}, {"messages", partner.messages}, {"bytes", partner.bytes}});
            rows.push_back({{"rank", location.rank},
                            {"thread", location.thread},
                            {"path", row.path},
                            {"function", label_of(profile, profile.paths[row.path]).name},
                            {"direction", row.direction == MessageDirection::Sent ? "sent" : "received"},
                            {"partners", std::move(partners)},
                            {"others", sum_json(row.others)},
                            {"unknown", sum_json(row.unknown)}});
        }
    }
    return {{"lost", lost}, {"rows", std::move(rows)}};
}

/// A list per column: half as long as an object per sample.
Json traces_json(const Profile& profile) {
    Json list = Json::array();
    for (const Location& location : profile.locations) {
        const Trace& trace = location.trace;
        if (trace.stride == 0) continue;
        Json time = Json::array(), path = Json::array(), depth = Json::array(), kind = Json::array();
        for (const TraceSample& sample : trace.samples) {
            time.push_back(sample.time_ns);
            path.push_back(sample.path);
            depth.push_back(sample.lca_depth);
            kind.push_back(static_cast<unsigned>(sample.lca_kind));
        }
        Json begin = Json::array(), end = Json::array(), wait_path = Json::array(), wait_depth = Json::array(), wait_kind = Json::array(),
             after_depth = Json::array(), after_kind = Json::array();
        for (const TraceWait& wait : trace.waits) {
            begin.push_back(wait.begin_ns);
            end.push_back(wait.end_ns);
            wait_path.push_back(wait.path);
            wait_depth.push_back(wait.lca_depth);
            wait_kind.push_back(static_cast<unsigned>(wait.lca_kind));
            after_depth.push_back(wait.after_depth);
            after_kind.push_back(static_cast<unsigned>(wait.after_kind));
        }
        Json waits = {{"dropped", trace.waits_dropped},     {"longest_dropped_ns", trace.longest_dropped_ns},
                      {"begin_ns", std::move(begin)},       {"end_ns", std::move(end)},
                      {"path", std::move(wait_path)},       {"lca_depth", std::move(wait_depth)},
                      {"lca_kind", std::move(wait_kind)},   {"after_depth", std::move(after_depth)},
                      {"after_kind", std::move(after_kind)}};
        list.push_back({{"rank", location.rank},
                        {"thread", location.thread},
                        {"stride", trace.stride},
                        {"dropped", trace.dropped},
                        {"time_ns", std::move(time)},
                        {"path", std::move(path)},
                        {"lca_depth", std::move(depth)},
                        {"lca_kind", std::move(kind)},
                        {"waits", std::move(waits)}});
    }
    return list;
}

} // namespace

std::string report_json(const Profile& profile, JsonParts parts) {
    // A damaged file may claim millions of ranks. Those that are not there have a number in every list all the same.
    constexpr std::uint64_t most_absent_values = 1 << 25;
    const std::uint64_t absent = profile.job.ranks - std::min<std::uint64_t>(profile.job.ranks, profile.ranks.size());
    if (absent * metric_rows(profile).size() * (profile.phases.size() + 1) > most_absent_values)
        throw SelectionError(fmt::format("only {} of {} ranks can be read, and the JSON report would list all; choose some with --rank", profile.ranks.size(),
                                         profile.job.ranks));
    const Locations mains = main_threads(profile), others = worker_threads(profile);
    Json document = Json::object();
    document["job"] = job_json(profile, mains);
    add_measurements(profile, mains, parts.series, document);
    add_own_costs(profile, mains.size(), document["self"]);
    document["self"]["share"] = own_share(profile, mains);
    Json told = Json::array();
    for (const Finding& finding : answers(profile, mains, trends(profile, mains)))
        told.push_back({{"key", finding.key}, {"question", finding.question}, {"answers", finding.sentences}});
    document["answers"] = std::move(told);
    document["loops"] = loops_json(profile);
    document["regions"] = regions_json(profile);
    document["parallel_regions"] = parallel_regions_json(profile);
    document["places"] = places_json(profile);
    document["clocks"] = clocks_json(profile, mains.size());
    document["partners"] = partners_json(profile);
    document["losses"] = losses_json(profile, mains.size());
    document["call_paths_found"] = path_counts_json(profile);
    Json threads = Json::object();
    Json where = Json::array();
    for (const Location* location : others) where.push_back({{"rank", location->rank}, {"thread", location->thread}});
    threads["locations"] = std::move(where);
    add_measurements(profile, others, parts.series, threads);
    document["threads"] = std::move(threads);
    if (parts.trace) {
        document["traces"] = traces_json(profile);
        document["events"] = events_json(profile);
        document["pages"] = pages_json(profile);
    }
    return json_text(document) + "\n";
}

} // namespace libprofile::tools
