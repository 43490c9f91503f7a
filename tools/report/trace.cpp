#include "tools/report/trace.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"
#include "tools/text/table.hpp"
#include "tools/text/writer.hpp"
#include "tools/timeseries/parameter_table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr double shown_share = 0.01; // of the run: loops with less are in JSON only

/// Stable keys.
const char* key_of(SegmentSign sign) {
    switch (sign) { // without default: a sign that is missing does not compile
    case SegmentSign::None: break;
    case SegmentSign::Waiting: return "waiting";
    case SegmentSign::TradeOff: return "trade_off";
    case SegmentSign::Imbalance: return "imbalance";
    case SegmentSign::TradeOffAndWaiting: return "trade_off_and_waiting";
    case SegmentSign::All: return "all";
    }
    return "none";
}

std::string ranks_of(const std::vector<std::uint32_t>& ranks) {
    const std::vector<std::uint64_t> wide(ranks.begin(), ranks.end());
    return rank_words(wide);
}

std::string share(const TraceReport& report, double ns) { return percent(report.trace.run_ns <= 0 ? 0 : ns / report.trace.run_ns); }

} // namespace

const char* class_key(NodeClass node_class) {
    switch (node_class) { // without default: a class that is missing does not compile
    case NodeClass::Computation: break;
    case NodeClass::Wait: return "wait";
    case NodeClass::Synchronisation: return "synchronisation";
    }
    return "computation";
}

std::vector<std::uint32_t> cluster_ranks(const TraceAnalysis& trace, const TimeCluster& cluster) {
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t member : cluster.members) ranks.push_back(trace.series.threads[member]->rank);
    return ranks;
}

std::string lost_sentence(const TraceReport& report, const LostPath& lost) {
    std::string text;
    if (lost.by_imbalance) {
        text = "imbalance " + share(report, lost.imb);
        if (!lost.ranks.empty()) text += fmt::format(" ({} by {})", lost.node_class == NodeClass::Synchronisation ? "least" : "longest", ranks_of(lost.ranks));
    }
    if (lost.by_waiting) text += (text.empty() ? "waiting " : ", waiting ") + share(report, lost.wait);
    return text;
}

std::string clusters_sentence(const TraceReport& report) {
    std::string text;
    for (const TimeCluster& cluster : report.trace.series.clusters) text += (text.empty() ? "" : "; ") + ranks_of(cluster_ranks(report.trace, cluster));
    return report.trace.series.clusters.size() == 1
               ? fmt::format("one cluster of ranks: {}", text)
               : fmt::format("{} of ranks that do alike: {}", plural(report.trace.series.clusters.size(), "cluster"), text);
}

std::vector<std::string> trace_untold(const TraceReport& report) {
    const TraceAnalysis& trace = report.trace;
    std::vector<std::string> sentences;
    if (report.is_part_asked) sentences.push_back("the part by the trace is about the whole run, whatever phase or iterations were asked for");
    for (const BinaryLoops::Absent& absent : report.loops.absent()) {
        const std::string& path = report.profile.modules[absent.module].path;
        if (path.empty() || path.front() != '/') continue; // code of the kernel
        sentences.push_back(fmt::format("the loops of {} are unknown: {}", printable(path),
                                        absent.state == ModuleState::Different ? "it was rebuilt since the job ran" : "the file is not here"));
    }
    const auto part = [&](std::uint64_t samples) { return percent(static_cast<double>(samples) / static_cast<double>(trace.series.samples)); };
    if (trace.unknown_loop_paths != 0)
        sentences.push_back(fmt::format("{} of the samples lie in or below functions whose loops are unknown, most in {}", part(trace.unknown_loop_paths),
                                        printable(label_of(report.profile, report.profile.paths[trace.unknown_path]).name)));
    if (trace.stride > 1) sentences.push_back(fmt::format("the trace was thinned out: it has every {}th sample", trace.stride));
    if (trace.series.unknown_ancestors != 0)
        sentences.push_back(
            fmt::format("of {} of the samples it is not known which calls went on since the sample before", part(trace.series.unknown_ancestors)));
    if (trace.other_threads != 0)
        sentences.push_back(fmt::format("only main threads are compared; {} more have traces", plural(trace.other_threads, "thread")));
    return sentences;
}

namespace {

/// Waiting may follow from the imbalance, so they are not added.
double weight(const LostSegment& segment) { return std::max(segment.sum_imb, segment.sum_wait); }

/// Those that are a sign of something, the weightiest first.
std::vector<const LostSegment*> weighty(const TraceReport& report) {
    std::vector<const LostSegment*> list;
    for (const LostSegment& segment : report.trace.segments)
        if (segment.sign != SegmentSign::None) list.push_back(&segment);
    std::stable_sort(list.begin(), list.end(), [](const LostSegment* a, const LostSegment* b) { return weight(*a) > weight(*b); });
    if (list.size() > report.most) list.resize(report.most);
    return list;
}

std::string segment_sentence(const TraceReport& report, const LostSegment& segment) {
    std::string text = fmt::format("imbalance {}, waiting {}: {}", share(report, segment.sum_imb), share(report, segment.sum_wait), advice(segment.sign));
    if (segment.has_synchronisation) text += fmt::format("; imbalance at its end {}", share(report, segment.imb));
    return text;
}

/// The paths of a segment in words, without the callers that all of them have.
struct SegmentWords {
    std::string callers; // empty if there are none
    std::vector<std::string> paths;
    std::size_t left_out = 0; // of less than shown_share
};

SegmentWords segment_words(const TraceReport& report, const ContextNames& names, const LostSegment& segment) {
    SegmentWords words;
    std::vector<std::pair<const LostPath*, std::vector<std::string>>> shown;
    for (const LostPath& lost : segment.paths) {
        if ((lost.by_imbalance ? lost.imb : 0) + (lost.by_waiting ? lost.wait : 0) < shown_share * report.trace.run_ns)
            ++words.left_out;
        else
            shown.emplace_back(&lost, names.path(lost.context));
    }
    std::size_t common = shown.size() < 2 ? 0 : shown.front().second.size() - 1;
    for (const auto& [lost, path] : shown) {
        common = std::min(common, path.size() - 1);
        common = static_cast<std::size_t>(std::mismatch(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(common), shown.front().second.begin()).first -
                                          path.begin());
    }
    const auto part = [](const std::vector<std::string>& path, std::size_t begin, std::size_t end) {
        return fmt::format("{}", fmt::join(path.begin() + static_cast<std::ptrdiff_t>(begin), path.begin() + static_cast<std::ptrdiff_t>(end), " > "));
    };
    if (common != 0) words.callers = part(shown.front().second, 0, common);
    for (const auto& [lost, path] : shown) words.paths.push_back(lost_sentence(report, *lost) + ": " + part(path, common, path.size()));
    return words;
}

std::string scope_sentence(const TraceReport& report) {
    const JobSeries& series = report.trace.series;
    std::string text = fmt::format("{}, {} {} apart", plural(series.threads.size(), "rank"), plural(series.samples, "sample"), duration(series.period, {}));
    for (const ParameterRow& row : parameter_rows())
        if (const double value = value_of(report.trace.parameters, row); value != value_of({}, row))
            text += fmt::format("; {} {:.9g} instead of {:.9g}", row.name, value, value_of({}, row));
    return text;
}

/// The loops that text shows, by line: name and numbers.
struct LoopLines {
    std::vector<std::vector<std::string>> rows;
    std::size_t left_out = 0;
};
const std::vector<std::string> loop_headings = {"loop", "of the run", "ranks", "runs", "accepted", "rejected", "actual"};

LoopLines loop_lines(const TraceReport& report, const ContextNames& names) {
    LoopLines lines;
    const double all = report.trace.run_ns * static_cast<double>(report.trace.series.threads.size());
    const auto number = [](std::uint64_t n) { return count(static_cast<double>(n)); };
    for (const AnalysedLoop& loop : report.trace.loops) {
        const LoopTotals& totals = loop.totals;
        if (totals.duration < shown_share * all) break;
        if (lines.rows.size() == report.most) {
            ++lines.left_out;
            continue;
        }
        std::string name = names.name(totals.context);
        if (const std::string function = names.loop(totals.context).function; name.find(function) == std::string::npos) name += " in " + function;
        lines.rows.push_back({without_anonymous(name), percent(totals.duration / all), number(totals.threads), number(totals.runs), number(totals.accepted),
                              number(totals.rejected), loop.actual ? number(*loop.actual) : "not known"});
    }
    return lines;
}

std::string loop_remark(const TraceReport& report) {
    const TimeSeriesParameters& parameters = report.trace.parameters;
    return fmt::format("iterations of all ranks; accepted: {} seen, or one of {}", plural(parameters.child_num_acc, "call"),
                       duration(parameters.child_dur_acc * report.trace.series.period, {}));
}

std::string left_out_sentence(std::size_t loops) { return fmt::format("... and {} more; --top N shows more", plural(loops, "loop")); }

} // namespace

std::string trace_text(const TraceReport& report, const TextStyle& style) {
    const ContextNames names(report.profile, report.trace.series.contexts, report.loops);
    TextWriter to(style);
    to.heading("By the trace", scope_sentence(report));
    to.paragraph(clusters_sentence(report));
    const std::vector<const LostSegment*> list = weighty(report);
    if (list.empty()) to.paragraph("no segment of the run has an imbalance or waiting of 1 % of it");
    std::size_t number = 1;
    for (const LostSegment* segment : list) {
        const std::string first = fmt::format("{:>2}  {:>6}  ", number++, share(report, weight(*segment)));
        const std::string next(columns(first), ' ');
        to.paragraph(spelled(style, segment_sentence(report, *segment)), first, next);
        const SegmentWords words = segment_words(report, names, *segment);
        if (!words.callers.empty()) to.paragraph("in " + words.callers, next, next + "  ");
        for (const std::string& path : words.paths) to.paragraph(spelled(style, path), next, next + "  ");
        if (words.left_out != 0) to.dim(next + fmt::format("... and {} of less than 1 %", plural(words.left_out, "call path")));
    }
    const LoopLines lines = loop_lines(report, names);
    to.heading("Loops and their iterations", loop_remark(report));
    if (lines.rows.empty()) to.paragraph("no loop that is known took 1 % of the run");
    std::size_t width = 0;
    for (const std::vector<std::string>& row : lines.rows) width = std::max(width, columns(row.front()));
    width = std::min(width, to.width() - std::min<std::size_t>(to.width(), 60)); // what the numbers leave
    Table table(loop_headings);
    for (std::vector<std::string> row : lines.rows) {
        row.front() = left(style, columns(row.front()) > width ? keep_end(style, row.front(), width) : row.front(), width);
        table.row(std::move(row));
    }
    std::string text = to.text() + (lines.rows.empty() ? "" : table.text(style));
    TextWriter notes(style);
    if (lines.left_out != 0) notes.dim(left_out_sentence(lines.left_out));
    for (const std::string& sentence : trace_untold(report)) notes.note(sentence);
    return text + notes.text();
}

std::string trace_markdown(const TraceReport& report) {
    const ContextNames names(report.profile, report.trace.series.contexts, report.loops);
    std::string text = fmt::format("\n## By the trace\n\n{}; {}\n\n", scope_sentence(report), clusters_sentence(report));
    std::size_t number = 1;
    for (const LostSegment* segment : weighty(report)) {
        text += fmt::format("{}. **{}** {}\n", number++, share(report, weight(*segment)), segment_sentence(report, *segment));
        const SegmentWords words = segment_words(report, names, *segment);
        if (!words.callers.empty()) text += fmt::format("   - in {}\n", words.callers);
        for (const std::string& path : words.paths) text += fmt::format("   - {}\n", path);
        if (words.left_out != 0) text += fmt::format("   - and {} of less than 1 %\n", plural(words.left_out, "call path"));
    }
    const LoopLines lines = loop_lines(report, names);
    text += fmt::format("\n### Loops and their iterations\n\n{}\n\n", loop_remark(report));
    text += fmt::format("| {} |\n| --- |{}\n", fmt::join(loop_headings, " | "), " ---: | ---: | ---: | ---: | ---: | ---: |");
    for (const std::vector<std::string>& row : lines.rows) text += fmt::format("| {} |\n", fmt::join(row, " | "));
    if (lines.left_out != 0) text += "\n" + left_out_sentence(lines.left_out) + "\n";
    for (const std::string& sentence : trace_untold(report)) text += fmt::format("\nNote: {}\n", sentence);
    return text;
}

Json trace_json(const TraceReport& report) {
    const TraceAnalysis& trace = report.trace;
    const ContextNames names(report.profile, trace.series.contexts, report.loops);
    Json json;
    json["run_ns"] = trace.run_ns;
    json["samples"] = trace.series.samples;
    json["period_ns"] = trace.series.period;
    json["stride"] = trace.stride;
    Json& parameters = json["parameters"] = Json::object();
    for (const ParameterRow& row : parameter_rows())
        parameters[std::string(row.name)] = std::visit([&](auto member) { return Json(trace.parameters.*member); }, row.member);
    Json& clusters = json["clusters"] = Json::array();
    for (const TimeCluster& cluster : trace.series.clusters) clusters.push_back(cluster_ranks(trace, cluster));
    Json& segments = json["segments"] = Json::array();
    for (const LostSegment& segment : trace.segments) {
        Json entry;
        entry["sign"] = key_of(segment.sign);
        entry["advice"] = advice(segment.sign);
        entry["imbalance_ns"] = segment.sum_imb;
        entry["waiting_ns"] = segment.sum_wait;
        entry["synchronisation_imbalance_ns"] = segment.has_synchronisation ? Json(segment.imb) : Json(nullptr);
        Json& paths = entry["paths"] = Json::array();
        for (const LostPath& lost : segment.paths)
            paths.push_back({{"class", class_key(lost.node_class)},
                             {"imbalance_ns", lost.by_imbalance ? Json(lost.imb) : Json(nullptr)},
                             {"waiting_ns", lost.by_waiting ? Json(lost.wait) : Json(nullptr)},
                             {"ranks", lost.ranks},
                             {"call_path", names.path(lost.context)}});
        segments.push_back(std::move(entry));
    }
    Json& loops = json["loops"] = Json::array();
    for (const AnalysedLoop& loop : trace.loops) {
        const SiteName source = names.loop(loop.totals.context);
        loops.push_back({{"function", source.function},
                         {"source", source.line == 0 ? Json(nullptr) : Json(fmt::format("{}:{}", source.file, source.line))},
                         {"call_path", names.path(loop.totals.context)},
                         {"ns", loop.totals.duration},
                         {"ranks", loop.totals.threads},
                         {"runs", loop.totals.runs},
                         {"profiles", loop.totals.profiles},
                         {"accepted", loop.totals.accepted},
                         {"rejected", loop.totals.rejected},
                         {"actual", loop.actual ? Json(*loop.actual) : Json(nullptr)}});
    }
    json["untold"] = trace_untold(report);
    return json;
}

} // namespace libprofile::tools
