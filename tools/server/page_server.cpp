#include "tools/server/page_server.hpp"

#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/text/json_text.hpp"
#include "tools/view/line_entry.hpp"
#include "tools/view/map_entry.hpp"
#include "tools/view/selected_columns.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

/// Enough for 255 levels of any map that memory holds: the way to the page is short.
constexpr std::size_t any_bytes = std::size_t{1} << 40;

std::string text_of(Json answer, const Sections& sections, std::size_t& next_column) {
    answer["first"] = sections.first();
    answer["columns"] = sections.list();
    next_column += sections.list().size();
    return json_text(answer);
}

MapMetric find_metric(std::vector<MapMetric> metrics, const std::string& name) {
    for (MapMetric& metric : metrics)
        if (metric.name == name) return std::move(metric);
    throw ViewError(fmt::format("the iterations have no metric \"{}\"", name));
}

} // namespace

PageServer::PageServer(const Profile& profile, const PageRequest& request) : profile_(profile), request_(request), tables_(page_tables(profile)) {
    const auto progress = [this](std::size_t done, std::size_t all) {
        if (request_.on_index) request_.on_index(done, all);
    };
    if (auto index = TimelineIndex::open(profile, progress)) window_ = std::make_unique<TimelineWindow>(profile_, tables_, std::move(index));
}

TimelineWindow& PageServer::asked_window() {
    if (!window_) throw ViewError("all events are in the page");
    return *window_;
}

std::string PageServer::timeline(const TimelineWindow::Question& question) {
    Sections sections(next_column_);
    const Json entry = asked_window().picture(question, sections);
    return text_of({{"events", entry}}, sections, next_column_);
}

SelectedTimes PageServer::times_of(const SelectedMoment& selected) {
    const TimelineWindow& window = asked_window();
    return selected.iteration ? window.times_of_iteration(selected.iteration->first, selected.iteration->second) : window.times(selected.from, selected.to);
}

std::string PageServer::timeline_sums(const SelectedMoment& selected) {
    Sections none(next_column_);
    return text_of(asked_window().sums(times_of(selected), selected.filter), none, next_column_);
}

std::string PageServer::timeline_totals(const TimelineWindow::Intervals& intervals) {
    Sections sections(next_column_);
    const Json entry = asked_window().totals(intervals, sections);
    return text_of(entry, sections, next_column_);
}

std::string PageServer::timeline_series(const TimelineWindow::Series& asked) {
    Sections none(next_column_);
    return text_of(asked_window().series(asked), none, next_column_);
}

std::string PageServer::timeline_messages(const SelectedMoment& selected) {
    Sections none(next_column_);
    return text_of(asked_window().messages(times_of(selected), selected.filter), none, next_column_);
}

std::string PageServer::timeline_durations(const SelectedMoment& selected) {
    Sections none(next_column_);
    return text_of(asked_window().durations(times_of(selected), selected.filter), none, next_column_);
}

std::size_t PageServer::iterations_of(std::uint32_t phase) const {
    std::size_t iterations = 0;
    for (const Location* location : tables_.mains)
        if (const PhaseData* data = find_phase(location, phase)) iterations = std::max(iterations, data->iteration_ns.size());
    if (iterations == 0) throw ViewError("this phase has no iterations");
    return iterations;
}

std::string PageServer::map(std::uint32_t phase, const std::string& name) {
    const std::size_t iterations = iterations_of(phase);
    const MapMetric metric = find_metric(map_metrics(profile_, tables_.mains, phase), name);
    const MapValues values = std::move(map_values(profile_, tables_.mains, phase, iterations, {metric}).front());
    Sections sections(next_column_);
    const bool with_values = values.values.size() <= request_.exact_values;
    const Json entry = map_entry(values, quantize(values.values, iterations, any_bytes), iterations, with_values, sections);
    return text_of({{"map", entry}}, sections, next_column_);
}

std::string PageServer::row(std::uint32_t phase, const std::string& name, std::uint32_t rank) {
    if (rank >= tables_.mains.size()) throw ViewError(fmt::format("there is no rank {}", rank));
    const std::size_t iterations = iterations_of(phase);
    const MapMetric metric = find_metric(map_metrics(profile_, tables_.mains, phase), name);
    const MapValues values = std::move(map_values(profile_, {tables_.mains[rank]}, phase, iterations, {metric}).front());
    Sections sections(next_column_);
    const std::size_t column = sections.add(value_column(values.values));
    return text_of({{"values", column}, {"exact", values.exact}}, sections, next_column_);
}

std::string PageServer::profile_of(const Selected& selected) {
    if (selected.phase >= profile_.phases.size() || selected.from >= selected.to) throw ViewError("there are no such iterations");
    std::vector<IterationRange> ranges;
    if (!selected.rest) {
        ranges.push_back({selected.from, selected.to - 1});
    } else {
        if (selected.from != 0) ranges.push_back({0, selected.from - 1});
        ranges.push_back({selected.to});
    }
    SelectedColumns cells(profile_, tables_.cells);
    SampledColumns sampled(tables_.cells);
    Json counts = Json::array(), sums = Json::array(), only_time = Json::array(), untold = Json::array();
    for (const Location* location : tables_.all) {
        const PhaseData* data = find_phase(location, selected.phase);
        const bool wanted = location->rank >= selected.first_rank && location->rank < selected.end_rank;
        std::uint64_t count = 0;
        bool is_scaled = false;
        std::uint64_t untold_here = 0;
        if (data != nullptr && wanted) {
            const WithInside all = cells_with_inside(profile_, *location, *data, ranges, true);
            is_scaled = all.is_scaled;
            for (const auto& part : all.cells) cells.add(part);
            for (const SampledSelection& one : all.sampled) sampled.add(one);
            for (const std::uint64_t ns : all.untold) untold_here += ns;
            const std::uint64_t length = data->cluster_of_iteration.size();
            const std::uint64_t inside = std::min(selected.to, length) - std::min(selected.from, length);
            count = selected.rest ? length - inside : inside;
        }
        cells.end();
        sampled.end();
        counts.push_back(count);
        only_time.push_back(is_scaled);
        untold.push_back(untold_here);
        sums.push_back(data == nullptr || !wanted || has_exact_sums(*data));
    }
    Sections sections(next_column_);
    const Json list = {{"counts", sections.add(cells.counts())},
                       {"keys", sections.add(cells.keys())},
                       {"values", sections.add(cells.values())},
                       {"errors", sections.add(cells.errors())}};
    Json strata = Json::array();
    for (const SampleStratum& stratum : sampled.strata()) strata.push_back({stratum.ns, stratum.squares});
    const Json samples = {{"counts", sections.add(sampled.counts())}, {"strata", strata}, {"parts", sections.add(sampled.parts())}};
    return text_of({{"cells", list}, {"sampled", samples}, {"iterations", counts}, {"sums", sums}, {"only_time", only_time}, {"untold", untold}}, sections,
                   next_column_);
}

std::string PageServer::source(const std::string& function, const std::string& metric, const Selected& selected) {
    if (selected.phase != TreeChoice::all_phases && selected.phase >= profile_.phases.size()) throw ViewError("there is no such phase");
    TreeChoice choice;
    choice.phase = selected.phase;
    if (selected.to != 0) choice.iterations = {selected.from, selected.to - 1};
    for (const Location* location : tables_.all)
        if ((location->rank >= selected.first_rank && location->rank < selected.end_rank) != selected.rest) choice.locations.push_back(location);
    const std::vector<MetricRow> rows = metric_rows(profile_);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const MetricRow& one) { return one.name == metric; });
    if (row == rows.end()) throw ViewError(fmt::format("there is no metric \"{}\"", metric));
    choice.rows = {static_cast<std::size_t>(row - rows.begin())};
    std::array<std::size_t, 3> at = {0, 0, 0};
    for (const auto& [position, id] : {std::pair(1, CatalogueId::Samples), std::pair(2, CatalogueId::Visits)}) {
        const auto known = std::find(choice.rows.begin(), choice.rows.end(), static_cast<std::size_t>(id));
        at[static_cast<std::size_t>(position)] = static_cast<std::size_t>(known - choice.rows.begin());
        if (known == choice.rows.end()) choice.rows.push_back(static_cast<std::size_t>(id));
    }
    const FunctionLines found = function_lines(profile_, function, std::vector<bool>(profile_.paths.size(), true), choice);
    Sections none(next_column_);
    return text_of({{"source", line_entry(profile_, function, found, at, &request_.source_maps)}}, none, next_column_);
}

} // namespace libprofile::tools
