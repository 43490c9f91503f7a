#include "tools/analysis/findings.hpp"
#include "tools/analysis/job_words.hpp"
#include "tools/analysis/losses.hpp"
#include "tools/analysis/unresolved.hpp"
#include "tools/diagnosis/answers.hpp"
#include "tools/names/labels.hpp"
#include "tools/plot/text_chart.hpp"
#include "tools/report/rows.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// Those that the head does not have, without lost samples: what libprofile cost has these.
void append_losses(const ReportContext& context, TextWriter& to) {
    for (const Loss& loss : losses(context.profile))
        if (loss.group != LossGroup::Missing && loss.kind != std::string_view("samples_lost"))
            to.note(loss.sentence, loss.group == LossGroup::Remark ? Tint::Dim : Tint::Warning, "  ");
}

void append_parts(const ReportContext& context, TextWriter& to) {
    constexpr std::size_t most = 6;
    constexpr double smallest = 0.0005;
    const bool several = context.values.size() > 1;
    const auto room = to.width() - 36 - 19;
    std::size_t n = 0;
    for (const TimePart& part : time_parts(context.profile, context.locations)) {
        if (n++ == most || part.share < smallest) break;
        std::string line = fmt::format("  {} {}  {}", left(to.style(), part.name, 22), right(to.style(), percent(part.share), 8),
                                       left(to.style(), bar(to.style(), part.share, room), room));
        if (several) line += right(to.style(), fmt::format("{} .. {}", percent(part.lowest), percent(part.highest)), 20);
        to.row(line);
    }
}

/// A function, but for the start and the end of MPI.
bool is_worth_a_question(const Profile& profile, const Spot& spot) {
    if (!is_call(spot.kind)) return is_code(spot.kind);
    return !starts_or_ends_mpi(profile, spot);
}

/// The times of the iterations, a bar per column.
void append_trend_line(const ReportContext& context, TextWriter& to) {
    const std::vector<Trend>& list = context.trends;
    if (list.empty() || list[0].iterations < 4) return;
    const std::vector<double>& times = list[0].times;
    // One slow iteration should not make all others look the same.
    const double top = std::min(*std::max_element(times.begin(), times.end()), 3 * list[0].typical);
    const ChartColumns chart(times.size(), to.width() - 4);
    to.line("  " + sparkline(to.style(), times, chart, top));
}

} // namespace

void append_header(const ReportContext& context, TextWriter& to) {
    ReportDocument head = document_of(context.profile, {});
    head.facts.push_back(job_line(context.profile, context.locations));
    head.complete = context.profile.complete;
    append_head(head, to);
}

void append_findings(const ReportContext& context, TextWriter& to) {
    for (const Finding& finding : answers(context.profile, context.locations, context.trends)) {
        const bool is_time = finding.key == "time";
        to.heading(finding.question, is_time && context.values.size() > 1 ? "mean over ranks; lowest and highest rank" : "");
        if (is_time) append_parts(context, to);
        // The table says what the first sentence does.
        for (std::size_t i = is_time ? 1 : 0; i < finding.sentences.size(); ++i) to.paragraph(spelled(to.style(), finding.sentences[i]), "  ", "  ");
        if (is_time)
            for (const std::string& sentence : unresolved_modules(context.profile, context.locations)) to.note(sentence, Tint::Warning, "  ");
        if (finding.key == "change") append_trend_line(context, to);
    }
    append_losses(context, to);
}

void append_hints(const ReportContext& context, const std::string& path, TextWriter& to) {
    to.heading("More", "below: phases, iterations, functions, call paths, metrics");
    std::vector<std::pair<std::string, std::string>> hints;
    const std::string folder = path.empty() ? "FOLDER" : path, report = "libprofile report " + folder;
    SpotTable table = context.spots;
    for (const HotSpot& spot : hot_spots(context.profile, context.locations, table))
        if (const Spot& what = table.spots[spot.spot]; is_worth_a_question(context.profile, what)) {
            const std::string name = printable(what.name);
            hints.emplace_back(report + " --path " + (name.find_first_of(" ()<>&;|'\"*?$") == std::string::npos ? name : "'" + name + "'"), "who calls it");
            break;
        }
    hints.emplace_back(report + " --bottom-up", "functions and their callers");
    hints.emplace_back("libprofile diagnose " + folder, "what could be saved, with evidence");
    for (const Trend& trend : context.trends) {
        const std::uint64_t tenth = trend.iterations / 10;
        if (tenth == 0) break;
        hints.emplace_back(fmt::format("{} --compare 1:{} {}:{}", report, tenth, trend.iterations - tenth + 1, trend.iterations), "what has changed");
        break;
    }
    if (const auto spread = rank_spread(context.profile, context.locations))
        hints.emplace_back(fmt::format("{} --compare rank={} rest", report, spread->busiest), "what it does more than others");
    hints.emplace_back("libprofile view " + folder, "all of it in a browser");
    std::size_t longest = 0;
    for (const auto& [command, what] : hints) longest = std::max(longest, columns(command));
    const bool fits = longest + 4 + 24 <= to.width();
    for (const auto& [command, what] : hints)
        to.line("  " + command + (fits ? std::string(longest - columns(command) + 2, ' ') + tinted(to.style(), Tint::Dim, what) : ""));
}

} // namespace libprofile::tools
