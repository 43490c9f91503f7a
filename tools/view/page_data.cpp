#include "tools/view/page_data.hpp"

#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"
#include "tools/view/cell_columns.hpp"
#include "tools/view/value_map.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;
using Locations = std::vector<const Location*>;

/// The script elements of the page that hold columns; a column's number is its place.
class Sections {
  public:
    std::size_t add(const NumberColumn& column) { return add_compressed(deflated(column.bytes())); }
    std::size_t add_compressed(const ByteList& bytes) {
        list_.push_back(base64(bytes));
        return list_.size() - 1;
    }
    void append(std::string& html) const {
        for (std::size_t i = 0; i < list_.size(); ++i)
            html += fmt::format("<script type=\"text/plain\" id=\"column-{}\">{}</script>\n", i, list_[i]);
    }

  private:
    std::vector<std::string> list_;
};

Json cells_json(const CellColumns& cells, Sections& sections) {
    return {{"counts", sections.add(cells.counts())},
            {"keys", sections.add(cells.keys())},
            {"mantissas", sections.add(cells.mantissas())},
            {"exponents", sections.add(cells.exponents())}};
}

class PageData {
  public:
    PageData(const Profile& profile, const PageRequest& request)
        : profile_(profile), request_(request), mains_(main_threads(profile)), room_(request.map_bytes) {
        for (const Location& location : profile.locations)
            all_.push_back(&location);
    }

    void append(std::string& html) {
        tree_ = function_tree(profile_, all_, true, &places_.node_of_path);
        number_metrics();
        Json header = {{"format", 1}};
        header["job"] = job();
        header["locations"] = locations();
        header["metrics"] = metrics();
        header["columns"] = columns_;
        header["nodes"] = nodes();
        header["totals"] = phase_totals();
        header["phases"] = phases();
        check_metrics();
        // "</script>" in a name must not end the element.
        std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
        for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;)
            text.replace(at, 1, "\\u003c");
        html += "<script type=\"application/json\" id=\"header\">" + text + "</script>\n";
        sections_.append(html);
    }

  private:
    void number_metrics() {
        std::vector<bool> occurs(profile_.metrics.size());
        occurs[0] = true;
        for (const Location* location : all_)
            for (const PhaseData& data : location->phases)
                for_each_cell(data, [&](const Cell& cell) { occurs[cell.metric] = true; });
        places_.column_of_metric.resize(occurs.size());
        for (std::size_t m = 0; m < occurs.size(); ++m)
            if (occurs[m]) {
                places_.column_of_metric[m] = places_.columns++;
                columns_.push_back(profile_.metrics[m].name);
            }
    }

    Json job() const {
        const Job& job = profile_.job;
        std::vector<std::uint64_t> missing, unfinished, checkpoints;
        Json losses = Json::object();
        const auto sum = [&](const char* name, std::uint64_t RankInfo::*member) {
            std::uint64_t value = 0;
            for (const auto& [rank, info] : profile_.ranks)
                value += info.*member;
            losses[name] = value;
        };
        sum("samples_taken", &RankInfo::samples_taken);
        sum("samples_lost", &RankInfo::samples_lost);
        sum("partial_paths", &RankInfo::partial_paths);
        sum("quota_losses", &RankInfo::quota_losses);
        sum("nesting_repairs", &RankInfo::nesting_repairs);
        sum("threads_lost", &RankInfo::threads_lost);
        sum("requests_lost", &RankInfo::requests_lost);
        sum("threads_running", &RankInfo::threads_running);
        sum("clocks_lost", &RankInfo::clocks_lost);
        for (std::size_t rank = 0; rank < mains_.size(); ++rank) {
            const auto at = profile_.ranks.find(static_cast<std::uint32_t>(rank));
            if (at == profile_.ranks.end())
                missing.push_back(rank);
            else if (at->second.checkpoint)
                checkpoints.push_back(rank);
            else if (!at->second.complete)
                unfinished.push_back(rank);
        }
        const std::uint64_t rate = profile_.ranks.empty() ? 0 : profile_.ranks.begin()->second.rate;
        return {{"command", job.command},   {"executable", job.executable},
                {"folder", job.folder},     {"mpi", job.mpi},
                {"version", job.version},   {"start_ms", job.start_unix_ns / 1000000},
                {"ranks", job.ranks},       {"configuration", job.configuration},
                {"rate", rate},             {"complete", profile_.complete},
                {"notes", profile_.notes},  {"losses", losses},
                {"missing", missing},       {"unfinished", unfinished},
                {"checkpoints", checkpoints}};
    }

    Json locations() const {
        Json rank = Json::array(), thread = Json::array(), host = Json::array(), wall = Json::array();
        std::vector<std::string> hosts;
        std::map<std::string, std::size_t> known;
        for (const Location* location : all_) {
            rank.push_back(location->rank);
            thread.push_back(location->thread);
            wall.push_back(location->wall_ns);
            const auto info = profile_.ranks.find(location->rank);
            const std::string name = info == profile_.ranks.end() ? std::string() : info->second.host;
            const auto [at, added] = known.emplace(name, hosts.size());
            if (added)
                hosts.push_back(name);
            host.push_back(at->second);
        }
        return {{"rank", rank}, {"thread", thread}, {"host", host}, {"wall", wall}, {"hosts", hosts}};
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
                if (const auto at = std::find(columns_.begin(), columns_.end(), profile_.metrics[metric].name); at != columns_.end())
                    column = static_cast<int>(at - columns_.begin());
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
        std::vector<std::size_t> row(tree_.size(), static_cast<std::size_t>(CatalogueId::Execution));
        std::vector<std::string> file(tree_.size());
        for (std::size_t p = 0; p < profile_.paths.size(); ++p) {
            const std::uint32_t n = places_.node_of_path[p];
            const CallPath& path = profile_.paths[p];
            if (path.kind == tree_[n].kind)
                row[n] = static_cast<std::size_t>(catalogue_of(category_of(profile_, path)));
            if (file[n].empty())
                file[n] = label_of(profile_, path).file;
        }
        Json parent = Json::array(), kind = Json::array(), name = Json::array(), place = Json::array();
        for (const FunctionNode& node : tree_) {
            parent.push_back(node.parent);
            kind.push_back(kind_name(node.kind));
            name.push_back(node.parent < 0 ? "all" : node.name);
            place.push_back(node.place);
        }
        return {{"parent", parent}, {"kind", kind}, {"name", name}, {"place", place}, {"file", file}, {"row", row}};
    }

    /// Exact: per phase, per location, what all its cells add up to.
    Json phase_totals() {
        CellColumns cells(places_, false);
        for (std::uint32_t p = 0; p < profile_.phases.size(); ++p)
            for (const Location* location : all_) {
                if (const PhaseData* data = find_phase(location, p)) {
                    for (const Cluster& cluster : data->clusters)
                        cells.add(cluster.cells);
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
            for (const Location* location : all_) {
                const PhaseData* data = find_phase(location, p);
                wall.push_back(data == nullptr ? 0 : data->wall_ns);
                inclusive.push_back(data == nullptr ? 0 : data->wall_inclusive_ns);
                instances.push_back(data == nullptr ? 0 : data->instances);
                all += data == nullptr ? 0 : static_cast<double>(data->wall_inclusive_ns);
            }
            list.push_back({{"name", profile_.phases[p].name},
                            {"kind", kinds[static_cast<std::size_t>(profile_.phases[p].kind)]},
                            {"wall", wall},
                            {"inclusive", inclusive},
                            {"instances", instances}});
            if (profile_.phases[p].kind == PhaseKind::Iterations)
                order.emplace_back(-all, p);
        }
        std::sort(order.begin(), order.end());
        for (const auto& [time, p] : order) {
            std::size_t iterations = 0;
            for (const Location* location : mains_)
                if (const PhaseData* data = find_phase(location, p))
                    iterations = std::max(iterations, data->iteration_ns.size());
            list[p]["iterations"] = iterations;
            if (iterations == 0)
                continue;
            maps(p, iterations, list[p]);
            list[p]["clusters"] = clusters(p);
            list[p]["accuracy"] = accuracy(p);
        }
        return list;
    }

    void maps(std::uint32_t phase, std::size_t iterations, Json& to) {
        std::vector<MapMetric> wanted, left_out;
        const std::size_t cells = iterations * std::max<std::size_t>(mains_.size(), 1);
        for (MapMetric& metric : map_metrics(profile_, mains_, phase)) {
            available_.insert(metric.name);
            const auto& asked = request_.metrics;
            const bool picked = asked.empty() ? (wanted.empty() || (wanted.size() + 1) * cells <= request_.values_in_memory)
                                              : std::find(asked.begin(), asked.end(), metric.name) != asked.end();
            (picked ? wanted : left_out).push_back(std::move(metric));
        }
        Json list = Json::array(), names = Json::array();
        const bool exact = wanted.size() * cells <= request_.exact_values;
        for (const MapValues& map : map_values(profile_, mains_, phase, iterations, wanted)) {
            const QuantizedMap levels = quantize(map.values, iterations, std::min(room_, request_.map_bytes * 9 / 10));
            // The first one is always there: a page without any would show nothing.
            const bool fits = list.empty() || levels.deltas.size() <= room_;
            if (fits)
                room_ -= std::min(room_, levels.deltas.size());
            if (!fits) {
                left_out.push_back(map.metric);
                continue;
            }
            Json entry = {{"name", map.metric.name},       {"label", map.metric.label},
                          {"unit", map.metric.unit},       {"description", map.metric.description},
                          {"exact", map.exact},            {"bounds", levels.bounds},
                          {"levels", sections_.add_compressed(levels.deltas)}};
            const MapSpread spread = spread_over_ranks(map.values, iterations);
            entry["spread"] = {{"minimum", sections_.add(spread.minimum)}, {"twice_median", sections_.add(spread.twice_median)},
                               {"maximum", sections_.add(spread.maximum)}, {"sum", sections_.add(spread.sum)},
                               {"slowest", sections_.add(spread.slowest)}, {"ranks", sections_.add(spread.ranks)}};
            if (exact) {
                NumberColumn column; // 0: no value
                for (const std::uint64_t v : map.values)
                    column.add(v == no_value ? 0 : v + 1);
                entry["values"] = sections_.add(column);
            }
            list.push_back(std::move(entry));
        }
        for (const MapMetric& metric : left_out)
            names.push_back(metric.name);
        to["maps"] = std::move(list);
        to["left_out"] = std::move(names);
    }

    /// Per location its clusters, largest first; the rest comes last where there is one.
    Json clusters(std::uint32_t phase) {
        std::size_t values = 0;
        for (const Location* location : all_)
            if (const PhaseData* data = find_phase(location, phase))
                for_each_cell(*data, [&](const Cell&) { ++values; });
        const bool rounded = values > request_.exact_cells;
        CellColumns cells(places_, rounded);
        NumberColumn sizes, classes, times, deviations, members;
        Json counts = Json::array(), lengths = Json::array();
        for (const Location* location : all_) {
            const PhaseData* data = find_phase(location, phase);
            counts.push_back(data == nullptr ? 0 : data->clusters.size() + 1); // with the rest
            lengths.push_back(data == nullptr ? 0 : data->cluster_of_iteration.size());
            if (data == nullptr)
                continue;
            add_clusters(*data, cells, sizes, classes, times, deviations, members);
        }
        return {{"counts", counts},
                {"lengths", lengths},
                {"sizes", sections_.add(sizes)},
                {"classes", sections_.add(classes)},
                {"times", sections_.add(times)},
                {"deviations", sections_.add(deviations)},
                {"members", sections_.add(members)},
                {"rounded", rounded},
                {"cells", cells_json(cells, sections_)}};
    }

    static void add_clusters(const PhaseData& data, CellColumns& cells, NumberColumn& sizes, NumberColumn& classes,
                             NumberColumn& times, NumberColumn& deviations, NumberColumn& members) {
        const std::size_t n = data.clusters.size();
        std::vector<std::uint32_t> order(n), place(n + 1, static_cast<std::uint32_t>(n));
        for (std::uint32_t c = 0; c < n; ++c)
            order[c] = c;
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return data.clusters[a].size > data.clusters[b].size;
        });
        for (std::uint32_t o = 0; o < n; ++o)
            place[order[o]] = o;
        std::vector<std::uint64_t> sum(n + 1), count(n + 1);
        std::vector<double> square(n + 1);
        for (std::size_t i = 0; i < data.cluster_of_iteration.size(); ++i) {
            const std::uint32_t c = place[std::min<std::size_t>(data.cluster_of_iteration[i], n)];
            members.add(c);
            sum[c] += i < data.iteration_ns.size() ? data.iteration_ns[i] : 0;
            ++count[c];
        }
        for (std::size_t i = 0; i < std::min(data.cluster_of_iteration.size(), data.iteration_ns.size()); ++i) {
            const std::uint32_t c = place[std::min<std::size_t>(data.cluster_of_iteration[i], n)];
            const double difference = static_cast<double>(data.iteration_ns[i]) - static_cast<double>(sum[c]) / static_cast<double>(count[c]);
            square[c] += difference * difference;
        }
        for (std::uint32_t o = 0; o <= n; ++o) {
            // Of a cluster the stored size; what lies in no cluster is counted.
            sizes.add(o < n ? data.clusters[order[o]].size : count[n]);
            classes.add(o < n ? data.clusters[order[o]].equivalence_class : 0);
            times.add(sum[o]);
            deviations.add(count[o] < 2 ? 0 : static_cast<std::uint64_t>(std::sqrt(square[o] / static_cast<double>(count[o] - 1))));
            cells.add(o < n ? data.clusters[order[o]].cells : data.rest);
            cells.end();
        }
    }

    /// Of what is kept of single iterations: the largest error over all locations, by metric.
    Json accuracy(std::uint32_t phase) const {
        Json list = Json::object();
        for (std::size_t m = 0; m < metric_count; ++m) {
            std::uint64_t largest = 0, sum = 0, cells = 0;
            for (const Location* location : all_)
                if (const PhaseData* data = find_phase(location, phase); data != nullptr && data->series) {
                    largest = std::max(largest, data->series->accuracy[m].largest);
                    sum += data->series->accuracy[m].sum;
                    cells += data->series->accuracy[m].cells;
                }
            if (cells != 0 && may_be_coarse(m))
                list[profile_.metrics[m].name] = {{"largest_error", largest}, {"sum_of_errors", sum}, {"cells", cells}};
        }
        return list;
    }

    void check_metrics() const {
        for (const std::string& name : request_.metrics)
            if (!available_.contains(name)) {
                std::string names;
                for (const std::string& known : available_)
                    names += (names.empty() ? "" : ", ") + known;
                throw ViewError(names.empty() ? "the profile has no iterations, so there are no value maps and no metrics to choose"
                                              : fmt::format("no metric \"{}\" in the iterations; there are: {}", name, names));
            }
    }

    const Profile& profile_;
    const PageRequest& request_;
    Locations mains_;
    Locations all_;
    std::vector<FunctionNode> tree_;
    CellPlaces places_;
    std::vector<std::string> columns_;
    std::set<std::string> available_;
    std::size_t room_;
    Sections sections_;
};

} // namespace

void append_page_data(const Profile& profile, const PageRequest& request, std::string& html) {
    PageData(profile, request).append(html);
}

} // namespace libprofile::tools
