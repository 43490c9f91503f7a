#include "tools/view/page_data.hpp"

#include "tools/analysis/affinity.hpp"
#include "tools/analysis/job_words.hpp"
#include "tools/analysis/kinds.hpp"
#include "tools/analysis/losses.hpp"
#include "tools/analysis/regions.hpp"
#include "tools/analysis/sample_strata.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/analysis/unresolved.hpp"
#include "tools/diagnosis/answers.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/json_text.hpp"
#include "tools/text/layout.hpp"
#include "tools/view/annotations.hpp"
#include "tools/view/begin_entry.hpp"
#include "tools/view/cause_entry.hpp"
#include "tools/view/group_entry.hpp"
#include "tools/view/line_entry.hpp"
#include "tools/view/machine_entry.hpp"
#include "tools/view/map_entry.hpp"
#include "tools/view/page_tables.hpp"
#include "tools/view/page_template.hpp"
#include "tools/view/strip_entry.hpp"
#include "tools/view/timeline_entry.hpp"
#include "tools/view/timeline_window.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

Json cells_json(const CellColumns& cells, Sections& sections) {
    return {{"counts", sections.add(cells.counts())},
            {"keys", sections.add(cells.keys())},
            {"mantissas", sections.add(cells.mantissas())},
            {"exponents", sections.add(cells.exponents())}};
}

/// "</script>" in a name must not end the element.
std::string header_text(const Json& header) {
    std::string text = json_text(header);
    for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
    return text;
}

class PageData {
  public:
    PageData(const Profile& profile, const PageRequest& request, const TimelineWindow* window)
        : profile_(profile), request_(request), window_(window), tables_(page_tables(profile)), trends_(trends(profile, tables_.mains)),
          diagnosed_(diagnose(profile)), axis_(profile), begins_(tables_.mains, axis_), room_(request.map_bytes) {}

    void append(std::string& html) {
        Json header = {{"format", 1}, {"served", request_.served}, {"snapshot", request_.snapshot}};
        header["job"] = job();
        header["answers"] = findings();
        header["causes"] = causes_entry(diagnosed_, request_.folder.empty() ? profile_.job.folder : request_.folder);
        header["locations"] = locations();
        header["metrics"] = metrics();
        header["columns"] = tables_.columns;
        header["nodes"] = nodes();
        header["regions"] = regions();
        header["lines"] = lines();
        header["totals"] = phase_totals();
        header["phases"] = phases();
        header["groups"] = groups_entry(profile_, tables_.mains, sections_);
        header["strip"] = strip_entry(profile_, axis_, tables_, sections_);
        header["machine"] = machine_entry(profile_, sections_);
        header["begins_known"] = begins_.are_known();
        header["laid_end"] = begins_.end();
        header["clock_limits"] = axis_.limits();
        header["annotations"] = annotations_entry(request_.folder);
        header["events"] = window_ != nullptr ? window_->first(sections_) : events(header);
        if (header["events"].is_null()) header.erase("annotations"); // they are of its times
        check_metrics();
        append_page_parts(header, sections_, html);
    }

  private:
    Json job() const {
        const Job& job = profile_.job;
        Json sentences = Json::array();
        for (const Loss& loss : losses(profile_)) sentences.push_back({{"group", group_name(loss.group)}, {"kind", loss.kind}, {"sentence", loss.sentence}});
        return {{"command", job.command},
                {"executable", job.executable},
                {"folder", job.folder},
                {"mpi", job.mpi},
                {"version", job.version},
                {"line", shown(job_line(profile_, tables_.mains))},
                {"ranks", job.ranks},
                {"configuration", job.configuration},
                {"complete", profile_.complete},
                {"losses", sentences}};
    }

    /// In a file: as many as fit into it with all else.
    Json events(const Json& header) {
        if (request_.served) return timeline_entry(profile_, axis_, tables_, request_.served_event_bytes, true, sections_);
        const Sections others = sections_;
        const std::size_t taken = page_template().size() + header_text(header).size() + others.bytes();
        const std::size_t most = request_.file_bytes - std::min(request_.file_bytes, taken);
        // The entry itself takes room, too; how much is known when it is there.
        for (std::size_t room = most - std::min(most, std::size_t{16'384} + 256 * profile_.locations.size());;) {
            Json entry = timeline_entry(profile_, axis_, tables_, room, false, sections_);
            const std::size_t size = header_text(entry).size() + sections_.bytes() - others.bytes();
            if (size <= most || room == 0 || entry.is_null()) return entry;
            sections_ = others;
            room -= std::min(room, size - most);
        }
    }

    /// As the text report spells it on a terminal that has all signs.
    static std::string shown(std::string sentence) { return spelled({}, std::move(sentence)); }

    /// What the text report says first, and the numbers of its table and its bar.
    Json findings() const {
        Json list = Json::array(), parts = Json::array(), hottest = Json::array(), unresolved = Json::array();
        for (const Finding& finding : answers(profile_, tables_.mains, trends_, &diagnosed_)) {
            Json sentences = Json::array();
            for (const std::string& sentence : finding.sentences) sentences.push_back(shown(sentence));
            list.push_back({{"key", finding.key}, {"question", finding.question}, {"sentences", sentences}});
        }
        const bool several = std::count(tables_.mains.begin(), tables_.mains.end(), nullptr) + 1 < static_cast<std::ptrdiff_t>(tables_.mains.size());
        for (const TimePart& part : time_parts(profile_, tables_.mains))
            parts.push_back({{"name", part.name},
                             {"share", part.share},
                             {"text", percent(part.share)},
                             {"range", several ? fmt::format("{} .. {}", percent(part.lowest), percent(part.highest)) : std::string()}});
        for (const Hottest& one : hottest_functions(profile_, tables_.mains)) hottest.push_back({{"text", shown(share_text(one))}, {"function", one.text}});
        for (const std::string& sentence : unresolved_modules(profile_, tables_.mains)) unresolved.push_back(sentence);
        return {{"list", list}, {"parts", parts}, {"hottest", hottest}, {"nameless", unresolved}};
    }

    Json locations() const {
        Json rank = Json::array(), thread = Json::array(), host = Json::array(), wall = Json::array();
        Json core = Json::array(), numa_node = Json::array(), moves = Json::array(); // -1: unknown
        std::vector<std::string> hosts;
        std::map<std::string, std::size_t> known;
        for (const Location* location : tables_.all) {
            rank.push_back(location->rank);
            thread.push_back(location->thread);
            wall.push_back(location->wall_ns);
            const auto info = profile_.ranks.find(location->rank);
            const std::string name = info == profile_.ranks.end() ? std::string() : info->second.host;
            const auto [at, added] = known.emplace(name, hosts.size());
            if (added) hosts.push_back(name);
            host.push_back(at->second);
            const bool is_known = info != profile_.ranks.end() && info->second.affinity;
            const ThreadAffinity* affinity = is_known ? info->second.affinity->thread(location->thread) : nullptr;
            const Processor* last = affinity != nullptr && affinity->last ? info->second.affinity->processor(*affinity->last) : nullptr;
            core.push_back(last != nullptr && last->core ? Json(*last->core) : Json(-1));
            numa_node.push_back(last != nullptr && last->numa_node ? Json(*last->numa_node) : Json(-1));
            moves.push_back(affinity == nullptr ? std::uint64_t{0} : affinity->moves);
        }
        // In the order of the hosts: that of the first machine with the name.
        Json machines = Json::array();
        const std::vector<UsedMachine> affinity = used_machines(profile_);
        for (const std::string& name : hosts) {
            const auto of_host = std::find_if(affinity.begin(), affinity.end(), [&](const UsedMachine& m) { return m.host == name; });
            machines.push_back(of_host == affinity.end() ? std::string() : machine_words(of_host->info));
        }
        return {{"rank", rank}, {"thread", thread},       {"host", host},   {"wall", wall},        {"hosts", hosts},
                {"core", core}, {"numa_node", numa_node}, {"moves", moves}, {"machines", machines}};
    }

    Json metrics() const {
        Json list = Json::array();
        const std::vector<MetricRow> rows = metric_rows(profile_);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const bool known = r < catalogue_size;
            const CatalogueKind kind = known ? metric_catalogue[r].kind : CatalogueKind::Direct;
            int column = -1;
            const std::size_t metric = !known ? metric_count + r - catalogue_size : static_cast<std::size_t>(metric_catalogue[r].direct);
            if (kind == CatalogueKind::Direct && metric < profile_.metrics.size())
                if (const auto at = std::find(tables_.columns.begin(), tables_.columns.end(), profile_.metrics[metric].name); at != tables_.columns.end())
                    column = static_cast<int>(at - tables_.columns.begin());
            list.push_back({{"name", rows[r].name},
                            {"unit", rows[r].unit},
                            {"label", rows[r].label},
                            {"description", rows[r].description},
                            {"parent", rows[r].parent},
                            {"time", kind == CatalogueKind::Time},
                            {"column", column}});
        }
        return list;
    }

    Json nodes() const {
        // All call paths of a node have its kind; MPI functions of one name have one category.
        std::vector<std::size_t> row(tables_.tree.size(), static_cast<std::size_t>(CatalogueId::Execution));
        row[0] = static_cast<std::size_t>(CatalogueId::Total); // time of which nothing else is known (inside.hpp)
        std::vector<std::string> file(tables_.tree.size());
        for (std::size_t p = 0; p < profile_.paths.size(); ++p) {
            const std::uint32_t n = tables_.cells.node_of_path[p];
            const CallPath& path = profile_.paths[p];
            if (n != 0 && path.kind == tables_.tree[n].kind) row[n] = static_cast<std::size_t>(catalogue_of(category_of(profile_, path)));
            if (file[n].empty()) file[n] = label_of(profile_, path).file;
        }
        Json parent = Json::array(), kind = Json::array(), name = Json::array(), source = Json::array();
        for (const FunctionNode& node : tables_.tree) {
            parent.push_back(node.parent);
            kind.push_back(kind_name(node.kind));
            name.push_back(node.parent < 0 ? "all" : node.name);
            source.push_back(node.source);
        }
        return {{"parent", parent}, {"kind", kind}, {"name", name}, {"place", source}, {"file", file}, {"row", row}};
    }

    /// Named regions and instrumented functions over all threads, longest first; of functions the longest.
    Json regions() const {
        const RegionCounters counters = region_counters(profile_);
        Json list = Json::array();
        std::size_t functions = 0;
        for (const RegionRow& row : region_rows(profile_)) {
            const bool is_function = row.kind == NodeKind::FunctionRegion;
            if (is_function && ++functions > most_functions) continue;
            const char* kind = is_function ? "function" : region_class_names[static_cast<std::size_t>(row.region_class)];
            list.push_back({{"kind", kind},
                            {"name", is_function ? short_function_name(row.name) : row.name},
                            {"map", is_function ? "" : fmt::format("{}:{}", kind, row.name)},
                            {"place", row.source},
                            {"visits", row.visits},
                            {"time", row.inclusive_ns},
                            {"own", row.exclusive_ns},
                            {"counted", row.counted}});
        }
        return {{"rows", std::move(list)}, {"counters", counters.names}, {"functions_left_out", functions > most_functions ? functions - most_functions : 0}};
    }
    static constexpr std::size_t most_functions = 200;

    /// The lines of the hottest functions in the whole run. A server has all, and of any selection.
    Json lines() const {
        Json list = Json::array();
        if (request_.served) return list;
        for (const auto& [name, found] : hottest_lines(profile_, most_functions_with_lines))
            list.push_back(line_entry(profile_, name, found, {0, 1, 2}, request_.with_source ? &request_.source_maps : nullptr));
        return list;
    }
    static constexpr std::size_t most_functions_with_lines = 40;

    /// Exact: per phase, per location, what all its cells add up to.
    Json phase_totals() {
        CellColumns cells(tables_.cells, false);
        for (std::uint32_t p = 0; p < profile_.phases.size(); ++p)
            for (const Location* location : tables_.all) {
                if (const PhaseData* data = find_phase(location, p)) {
                    for (const Cluster& cluster : data->clusters) cells.add(cluster.cells);
                    cells.add(data->rest);
                }
                cells.end();
            }
        return cells_json(cells, sections_);
    }

    Json phases() {
        constexpr const char* kinds[] = {"outside", "aggregate", "iterations"};
        std::vector<Json> list;
        std::vector<std::pair<double, std::uint32_t>> order; // the longest gets its maps first
        for (std::uint32_t p = 0; p < profile_.phases.size(); ++p) {
            Json wall = Json::array(), inclusive = Json::array(), instances = Json::array();
            double all = 0;
            for (const Location* location : tables_.all) {
                const PhaseData* data = find_phase(location, p);
                wall.push_back(data == nullptr ? 0 : data->wall_ns);
                inclusive.push_back(data == nullptr ? 0 : data->wall_inclusive_ns);
                instances.push_back(data == nullptr ? 0 : data->instances);
                all += data == nullptr ? 0 : static_cast<double>(data->wall_inclusive_ns);
            }
            list.push_back({{"name", profile_.phases[p].name},
                            {"samples", samples(p)},
                            {"kind", kinds[static_cast<std::size_t>(profile_.phases[p].kind)]},
                            {"wall", wall},
                            {"inclusive", inclusive},
                            {"instances", instances}});
            if (profile_.phases[p].is_frame) list.back()["frame"] = true;
            if (profile_.phases[p].kind == PhaseKind::Iterations) order.emplace_back(-all, p);
        }
        std::sort(order.begin(), order.end());
        for (const auto& [time, p] : order) {
            std::size_t iterations = 0;
            for (const Location* location : tables_.mains)
                if (const PhaseData* data = find_phase(location, p)) iterations = std::max(iterations, data->iteration_ns.size());
            list[p]["iterations"] = iterations;
            if (iterations == 0) continue;
            maps(p, iterations, list[p]);
            for (const Trend& trend : trends_)
                if (trend.phase == p)
                    for (const std::string& sentence : trend_sentences(profile_, trend)) list[p]["change"].push_back(shown(sentence));
            list[p]["clusters"] = clusters(p);
            list[p]["inside"] = inside(p);
            list[p]["accuracy"] = accuracy(p);
            list[p]["begins"] = begins_.entry(p, sections_);
        }
        return list;
    }

    void maps(std::uint32_t phase, std::size_t iterations, Json& to) {
        std::vector<MapMetric> wanted, left_out;
        const std::size_t cells = iterations * std::max<std::size_t>(tables_.mains.size(), 1);
        for (MapMetric& metric : map_metrics(profile_, tables_.mains, phase)) {
            available_.insert(metric.name);
            const auto& asked = request_.metrics;
            const bool picked = asked.empty()
                                    ? (wanted.empty() || (wanted.size() < request_.most_maps && (wanted.size() + 1) * cells <= request_.values_in_memory))
                                    : std::find(asked.begin(), asked.end(), metric.name) != asked.end();
            (picked ? wanted : left_out).push_back(std::move(metric));
        }
        Json list = Json::array(), names = Json::array();
        const bool exact = wanted.size() * cells <= request_.exact_values;
        for (const MapValues& map : map_values(profile_, tables_.mains, phase, iterations, wanted)) {
            const QuantizedMap levels = quantize(map.values, iterations, std::min(room_, request_.map_bytes * 9 / 10));
            // The first one is always there: a page without any would show nothing.
            const bool fits = list.empty() || levels.deltas.size() <= room_;
            if (fits) room_ -= std::min(room_, levels.deltas.size());
            if (!fits) {
                left_out.push_back(map.metric);
                continue;
            }
            list.push_back(map_entry(map, levels, iterations, exact, sections_));
        }
        for (const MapMetric& metric : left_out) names.push_back({{"name", metric.name}, {"label", metric.label}});
        to["maps"] = std::move(list);
        to["left_out"] = std::move(names);
    }

    /// Per location its clusters, largest first; the rest comes last where there is one.
    Json clusters(std::uint32_t phase) {
        std::size_t values = 0;
        for (const Location* location : tables_.all)
            if (const PhaseData* data = find_phase(location, phase)) for_each_cell(*data, [&](const Cell&) { ++values; });
        const bool rounded = values > request_.exact_cells;
        CellColumns cells(tables_.cells, rounded);
        NumberColumn sizes, classes, times, deviations, members, kinds;
        const auto kind_of = kinds_of_clusters(profile_, tables_.all, phase);
        Json counts = Json::array(), lengths = Json::array();
        for (std::size_t l = 0; l < tables_.all.size(); ++l) {
            const Location* location = tables_.all[l];
            const PhaseData* data = find_phase(location, phase);
            counts.push_back(data == nullptr ? 0 : data->clusters.size() + 1); // with the rest
            lengths.push_back(data == nullptr ? 0 : data->cluster_of_iteration.size());
            if (data == nullptr) continue;
            add_clusters(*data, kind_of[l], cells, sizes, classes, times, deviations, members, kinds);
        }
        return {{"counts", counts},
                {"lengths", lengths},
                {"sizes", sections_.add(sizes)},
                {"classes", sections_.add(classes)},
                {"times", sections_.add(times)},
                {"deviations", sections_.add(deviations)},
                {"members", sections_.add(members)},
                {"kinds", sections_.add(kinds)},
                {"rounded", rounded},
                {"cells", cells_json(cells, sections_)}};
    }

    /// Clusters of a location in the order of the page, the largest first.
    static std::vector<std::uint32_t> cluster_order(const PhaseData& data) {
        std::vector<std::uint32_t> order(data.clusters.size());
        for (std::uint32_t c = 0; c < order.size(); ++c) order[c] = c;
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return data.clusters[a].size > data.clusters[b].size; });
        return order;
    }

    /// The pools of samples that shared out computing time, by location: of each how many samples it has, in thousandths, and whether it is mixed;
    /// of each cluster which one it is in, plus 1. If they are few, the times of iterations by which a pool's iterations differ, in units.
    Json samples(std::uint32_t phase) {
        std::size_t iterations = 0;
        for (const Location* location : tables_.all)
            if (const PhaseData* data = find_phase(location, phase)) iterations += data->cluster_of_iteration.size();
        const bool with_times = !request_.served && iterations <= request_.iteration_times;
        NumberColumn numbers, mixed, of_cluster, times;
        Json counts = Json::array(), units = Json::array(), wall = Json::array();
        for (const Location* location : tables_.all) {
            const PhaseData* data = find_phase(location, phase);
            counts.push_back(data == nullptr ? 0 : data->pools.size());
            std::uint64_t unit = 0;
            bool is_wall = false;
            if (data != nullptr && !data->pools.empty()) {
                for (const SamplePool& pool : data->pools) {
                    numbers.add(static_cast<std::uint64_t>(std::llround(1000 * pool.samples)));
                    mixed.add(pool.is_mixed ? 1 : 0);
                }
                for (const std::uint32_t c : cluster_order(*data)) of_cluster.add((data->pool_of_cluster[c] + 1) % (data->pools.size() + 1));
                of_cluster.add((data->pool_of_cluster.back() + 1) % (data->pools.size() + 1));
                if (with_times && !data->cluster_of_iteration.empty()) is_wall = add_times(*data, times, unit);
            }
            units.push_back(unit);
            wall.push_back(is_wall);
        }
        return {{"counts", counts},
                {"numbers", sections_.add(numbers)},
                {"mixed", sections_.add(mixed)},
                {"of_cluster", sections_.add(of_cluster)},
                {"units", units},
                {"wall", wall},
                {"times", sections_.add(times)}};
    }

    /// Times of iterations in units of which the mean has 8,000: most take two bytes, and errors that follow from them are those of the report.
    /// @return whether they are wall times
    bool add_times(const PhaseData& data, NumberColumn& to, std::uint64_t& unit) const {
        const IterationTimes times = compared_times(profile_, data);
        double sum = 0;
        for (const double ns : times.ns) sum += ns;
        unit = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(sum / static_cast<double>(times.ns.size()) / 8000));
        for (const double ns : times.ns) to.add(static_cast<std::uint64_t>(std::llround(ns / static_cast<double>(unit))));
        return times.is_wall;
    }

    static void add_clusters(const PhaseData& data, const std::vector<std::uint32_t>& kind_of, CellColumns& cells, NumberColumn& sizes, NumberColumn& classes,
                             NumberColumn& times, NumberColumn& deviations, NumberColumn& members, NumberColumn& kinds) {
        const std::size_t n = data.clusters.size();
        const std::vector<std::uint32_t> order = cluster_order(data);
        std::vector<std::uint32_t> position_of(n + 1, static_cast<std::uint32_t>(n));
        for (std::uint32_t o = 0; o < n; ++o) position_of[order[o]] = o;
        std::vector<std::uint64_t> sum(n + 1), count(n + 1);
        std::vector<double> square(n + 1);
        for (std::size_t i = 0; i < data.cluster_of_iteration.size(); ++i) {
            const std::uint32_t c = position_of[std::min<std::size_t>(data.cluster_of_iteration[i], n)];
            members.add(c);
            sum[c] += i < data.iteration_ns.size() ? data.iteration_ns[i] : 0;
            ++count[c];
        }
        for (std::size_t i = 0; i < std::min(data.cluster_of_iteration.size(), data.iteration_ns.size()); ++i) {
            const std::uint32_t c = position_of[std::min<std::size_t>(data.cluster_of_iteration[i], n)];
            const double difference = static_cast<double>(data.iteration_ns[i]) - static_cast<double>(sum[c]) / static_cast<double>(count[c]);
            square[c] += difference * difference;
        }
        for (std::uint32_t o = 0; o <= n; ++o) {
            // For a cluster the stored size; iterations in no cluster are counted.
            sizes.add(o < n ? data.clusters[order[o]].size : count[n]);
            classes.add(o < n ? data.clusters[order[o]].equivalence_class : 0);
            kinds.add(o < n && kind_of[order[o]] != KindRun::none ? std::uint64_t{kind_of[order[o]]} + 1 : 0);
            times.add(sum[o]);
            deviations.add(count[o] < 2 ? 0 : static_cast<std::uint64_t>(std::sqrt(square[o] / static_cast<double>(count[o] - 1))));
            cells.add(o < n ? data.clusters[order[o]].cells : data.rest);
            cells.end();
        }
    }

    /// What lies inside the first `known` iterations of each location; null if there is nothing, or it is unknown.
    Json inside(std::uint32_t phase) {
        NumberColumn iterations, phases, counts, firsts, times;
        Json lengths = Json::array(), known = Json::array();
        bool any = false;
        for (const Location* location : tables_.all) {
            const PhaseData* data = find_phase(location, phase);
            const std::size_t length = data == nullptr || !data->inside ? 0 : data->inside->entries.size();
            lengths.push_back(length);
            known.push_back(data == nullptr || !data->inside ? 0 : data->inside->known);
            any = any || length != 0;
            std::uint64_t before = 0;
            for (std::size_t i = 0; i < length; ++i) {
                const InsideData::Entry& entry = data->inside->entries[i];
                iterations.add(entry.iteration - before);
                before = entry.iteration;
                phases.add(entry.phase);
                counts.add(entry.count);
                firsts.add(entry.first);
                times.add(entry.wall_ns);
            }
        }
        if (!any) return nullptr;
        return {{"lengths", lengths},
                {"known", known},
                {"iterations", sections_.add(iterations)},
                {"phases", sections_.add(phases)},
                {"counts", sections_.add(counts)},
                {"firsts", sections_.add(firsts)},
                {"times", sections_.add(times)}};
    }

    /// The largest error of the values kept for single iterations over all locations, by metric.
    Json accuracy(std::uint32_t phase) const {
        Json list = Json::object();
        for (std::size_t m = 0; m < metric_count; ++m) {
            std::uint64_t largest = 0, sum = 0, cells = 0;
            for (const Location* location : tables_.all)
                if (const PhaseData* data = find_phase(location, phase); data != nullptr && data->series) {
                    const SeriesAccuracyRecord accuracy = data->series->accuracy_of(m);
                    largest = std::max(largest, accuracy.largest);
                    sum += accuracy.sum;
                    cells += accuracy.cells;
                }
            if (cells != 0 && may_be_coarse(m)) list[profile_.metrics[m].name] = {{"largest_error", largest}, {"sum_of_errors", sum}, {"cells", cells}};
        }
        return list;
    }

    void check_metrics() const {
        for (const std::string& name : request_.metrics)
            if (!available_.contains(name)) {
                std::string names;
                for (const std::string& known : available_) names += (names.empty() ? "" : ", ") + known;
                throw ViewError(names.empty() ? "the profile has no iterations, so there are no value maps and no metrics to choose"
                                              : fmt::format("no metric \"{}\" in the iterations; there are: {}", name, names));
            }
    }

    const Profile& profile_;
    const PageRequest& request_;
    const TimelineWindow* window_;
    const PageTables tables_;
    const std::vector<Trend> trends_;
    const DiagnosedRun diagnosed_;
    ClockAxis axis_;
    BeginEntries begins_;
    std::set<std::string> available_;
    std::size_t room_;
    Sections sections_;
};

} // namespace

void append_page_parts(const nlohmann::ordered_json& header, const Sections& sections, std::string& html) {
    html += "<script type=\"application/json\" id=\"header\">" + header_text(header) + "</script>\n";
    for (std::size_t i = 0; i < sections.list().size(); ++i)
        html += fmt::format("<script type=\"text/plain\" id=\"column-{}\">{}</script>\n", i, sections.list()[i]);
}

std::string page_data(const Profile& profile, const PageRequest& request, const TimelineWindow* window) {
    std::string html;
    PageData(profile, request, window).append(html);
    return html;
}

} // namespace libprofile::tools
