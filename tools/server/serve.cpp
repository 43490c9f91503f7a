#include "tools/server/serve.hpp"

#include "tools/server/loopback_server.hpp"
#include "tools/text/json_text.hpp"
#include "tools/view/annotations.hpp"
#include "tools/view/page.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace libprofile::tools {

namespace {

using Parameters = std::multimap<std::string, std::string>;

std::string text_of(const Parameters& parameters, const char* name) {
    const auto at = parameters.find(name);
    if (at == parameters.end()) throw ViewError(fmt::format("the request has no \"{}\"", name));
    return at->second;
}

template <class Number> Number number_in(const std::string& text, const char* name) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) throw ViewError(fmt::format("\"{}\" is not a number", name));
    return value;
}

template <class Number> Number number_of(const Parameters& parameters, const char* name) { return number_in<Number>(text_of(parameters, name), name); }

void read_ranks(const Parameters& p, PageServer::Selected& selected) {
    selected.first_rank = number_of<std::uint64_t>(p, "first_rank");
    selected.end_rank = number_of<std::uint64_t>(p, "end_rank");
}

/// "rows": locations, separated by commas.
std::vector<std::uint32_t> rows_of(const Parameters& p) {
    std::vector<std::uint32_t> list;
    const std::string rows = text_of(p, "rows");
    for (std::size_t at = 0; at <= rows.size();) {
        const std::size_t end = std::min(rows.find(',', at), rows.size());
        list.push_back(number_in<std::uint32_t>(rows.substr(at, end - at), "rows"));
        at = end + 1;
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
}

/// "0,4-7": from and to, both included; empty if it is not asked for.
CallFilter::Ranges ranges_of(const Parameters& p, const char* name) {
    CallFilter::Ranges ranges;
    if (!p.contains(name)) return ranges;
    const std::string list = text_of(p, name);
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size()), dash = std::min(list.find('-', at), end);
        const auto first = number_in<std::uint32_t>(list.substr(at, dash - at), name);
        ranges.emplace_back(first, dash == end ? first : number_in<std::uint32_t>(list.substr(dash + 1, end - dash - 1), name));
        at = end + 1;
    }
    return ranges;
}

/// The filter of the timeline: what viewer/src/events/filter.ts asks with.
CallFilter filter_of(const Parameters& p) {
    CallFilter filter;
    const std::string only = p.contains("only") ? text_of(p, "only") : "";
    if (only == "calls")
        filter.only = EventFilter::Kind::Calls;
    else if (only == "tasks")
        filter.only = EventFilter::Kind::Tasks;
    else if (only == "regions")
        filter.only = EventFilter::Kind::Regions;
    else if (!only.empty())
        throw ViewError("\"only\" is calls, tasks or regions");
    if (p.contains("with")) filter.with = text_of(p, "with");
    if (p.contains("inside")) filter.inside = text_of(p, "inside");
    if (p.contains("least")) filter.least_ns = number_of<std::uint64_t>(p, "least");
    if (p.contains("most")) filter.most_ns = number_of<std::uint64_t>(p, "most");
    filter.ranks = ranges_of(p, "on_ranks");
    filter.threads = ranges_of(p, "on_threads");
    filter.nodes = ranges_of(p, "on_nodes");
    return filter;
}

TimelineWindow::Question question_of(const Parameters& p) {
    return {number_of<double>(p, "from"),
            number_of<double>(p, "to"),
            number_of<std::size_t>(p, "pixels"),
            rows_of(p),
            p.contains("fine"),
            p.contains("by_type"),
            filter_of(p)};
}

TimelineWindow::Intervals intervals_of(const Parameters& p) {
    return {number_of<double>(p, "from"), number_of<double>(p, "every"), number_of<std::size_t>(p, "count"), rows_of(p)};
}

/// viewer/src/events/asked_tracks.ts asks with these.
TimelineWindow::Series series_of(const Parameters& p) {
    TimelineWindow::Series series;
    series.intervals = {number_of<double>(p, "from"), number_of<double>(p, "every"), number_of<std::size_t>(p, "count"), {}};
    const std::string of = text_of(p, "series");
    if (of == "calls")
        series.question.of = SeriesQuestion::Of::Calls;
    else if (of == "bytes")
        series.question.of = SeriesQuestion::Of::Sent;
    else if (of == "messages")
        series.question.of = SeriesQuestion::Of::Messages;
    else if (of == "received")
        series.question.of = SeriesQuestion::Of::Received;
    else if (of == "counter")
        series.question.of = SeriesQuestion::Of::Counter;
    else if (of != "time")
        throw ViewError(fmt::format("there is no series \"{}\"", of));
    if (p.contains("name")) series.question.name = text_of(p, "name");
    for (const auto& [name, number] : {std::pair("from_rank", &series.question.from_rank), std::pair("end_from", &series.question.end_from),
                                       std::pair("to_rank", &series.question.to_rank), std::pair("end_to", &series.question.end_to)})
        if (p.contains(name)) *number = number_of<std::uint64_t>(p, name);
    series.question.is_total = p.contains("total");
    return series;
}

PageServer::SelectedMoment moment_of(const Parameters& p) {
    if (p.contains("iteration")) return {0, 0, std::pair(number_of<std::uint32_t>(p, "phase"), number_of<std::uint64_t>(p, "iteration")), filter_of(p)};
    return {number_of<double>(p, "from"), number_of<double>(p, "to"), std::nullopt, filter_of(p)};
}

std::string answer_to(PageServer& pages, const std::string& name, const Parameters& p) {
    if (name == "source") {
        PageServer::Selected chosen;
        chosen.phase = p.contains("phase") ? number_of<std::uint32_t>(p, "phase") : TreeChoice::all_phases;
        if (p.contains("from")) {
            chosen.from = number_of<std::uint64_t>(p, "from");
            chosen.to = number_of<std::uint64_t>(p, "to");
            if (chosen.from >= chosen.to) throw ViewError("there are no such iterations");
        }
        if (p.contains("first_rank")) read_ranks(p, chosen);
        chosen.rest = p.contains("rest");
        return pages.source(text_of(p, "function"), text_of(p, "metric"), chosen);
    }
    if (name == "timeline") return pages.timeline(question_of(p));
    if (name == "timeline_sums") return pages.timeline_sums(moment_of(p));
    if (name == "timeline_totals") return pages.timeline_totals(intervals_of(p));
    if (name == "timeline_series") return pages.timeline_series(series_of(p));
    if (name == "timeline_messages") return pages.timeline_messages(moment_of(p));
    if (name == "timeline_durations") return pages.timeline_durations(moment_of(p));
    const auto phase = number_of<std::uint32_t>(p, "phase");
    if (name == "map") return pages.map(phase, text_of(p, "metric"));
    if (name == "row") return pages.row(phase, text_of(p, "metric"), number_of<std::uint32_t>(p, "rank"));
    PageServer::Selected selected;
    selected.phase = phase;
    selected.from = number_of<std::uint64_t>(p, "from");
    selected.to = number_of<std::uint64_t>(p, "to");
    selected.rest = p.contains("rest");
    if (p.contains("first_rank")) read_ranks(p, selected);
    return pages.profile_of(selected);
}

using Answer = LoopbackServer::Answer;

Answer answer(int status, const char* type, std::string text) { return {status, type, std::make_shared<const std::string>(std::move(text))}; }

Answer refusal(int status, const std::string& why) {
    return answer(status, "application/json", nlohmann::json({{"error", why}}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// What users wrote into the timeline, and changes of it: {"put": annotation} or {"remove": id}.
Answer annotations(const Snapshots& snapshots, const std::optional<std::string>& change) {
    const AnnotationFile file(snapshots.newest()->request.folder);
    std::vector<Annotation> list;
    if (!change)
        list = file.read();
    else {
        if (snapshots.is_live()) throw ViewError("nothing is written into the folder of a job that runs; the page can save annotations as a file");
        const auto json = nlohmann::ordered_json::parse(*change, nullptr, false);
        if (!json.is_object()) throw ViewError("the change is not JSON");
        if (json.contains("put"))
            list = file.put(annotation_of(json["put"]));
        else if (json.contains("remove") && json["remove"].is_string())
            list = file.remove(json["remove"].get<std::string>());
        else
            throw ViewError("the change is not known");
    }
    return answer(200, "application/json", json_text({{"annotations", json_of(list)}}));
}

Answer answer_of(Snapshots& snapshots, const LoopbackServer::Question& question) {
    const auto& [name, parameters, change] = question;
    if (name == "annotations") return annotations(snapshots, change);
    if (change) return answer(405, "text/plain", "Only GET is served.\n");
    if (name.empty()) return answer(200, "text/html; charset=utf-8", page_around(snapshots.newest()->data, true));
    if (name == "news") return answer(200, "application/json", snapshots.news());
    if (name == "data") { // those of the page
        const std::shared_ptr<Snapshot> newest = snapshots.newest();
        return {200, "text/plain; charset=utf-8", std::shared_ptr<const std::string>(newest, &newest->data)};
    }
    static const std::set<std::string> questions = {
        "map", "row", "profile", "source", "timeline", "timeline_sums", "timeline_totals", "timeline_messages", "timeline_durations", "timeline_series"};
    if (!questions.contains(name)) return answer(404, "text/plain", "There is no such request.\n");
    const std::shared_ptr<Snapshot> asked = snapshots.find(parameters.contains("snapshot") ? number_of<std::uint64_t>(parameters, "snapshot") : 0);
    if (!asked) return refusal(410, "the job has gone on, and this state of it is no longer kept");
    return answer(200, "application/json", answer_to(asked->answers, name, parameters));
}

LoopbackServer::Patience patience_of(const ServeRequest& request) {
    LoopbackServer::Patience patience;
    patience.of_silence = std::chrono::seconds(request.silence_s);
    return patience;
}

} // namespace

bool serve(Snapshots& snapshots, const ServeRequest& request, const std::function<void(const std::string&)>& ready,
           const std::function<void(std::stop_token)>& beside) {
    const auto handler = [&](const LoopbackServer::Question& question) {
        try {
            return answer_of(snapshots, question);
        } catch (const ViewError& error) {
            return refusal(400, error.what());
        } catch (const ReadError& error) { // of events in their files
            return refusal(500, error.what());
        } catch (const std::bad_alloc&) {
            return answer(500, "application/json", "{\"error\":\"there is not enough memory for this\"}");
        }
    };
    LoopbackServer server(handler, request.port);
    ready(server.address());
    return server.run(patience_of(request), beside);
}

bool serve(std::string page, const ServeRequest& request, const std::function<void(const std::string&)>& ready) {
    const Answer whole = answer(200, "text/html; charset=utf-8", std::move(page)), none = answer(404, "text/plain", "There is no such request.\n");
    LoopbackServer server([&](const LoopbackServer::Question& question) { return question.name.empty() && !question.change ? whole : none; }, request.port);
    ready(server.address());
    return server.run(patience_of(request));
}

} // namespace libprofile::tools
