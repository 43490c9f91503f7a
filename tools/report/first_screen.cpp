#include "tools/analysis/answers.hpp"
#include "tools/analysis/job_words.hpp"
#include "tools/analysis/losses.hpp"
#include "tools/analysis/nameless.hpp"
#include "tools/names/labels.hpp"
#include "tools/plot/text_chart.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// A mark in front and the lines of the text behind it.
void append_item(const std::string& mark, const std::string& text, std::size_t width, std::string& out) {
    const std::vector<std::string> lines = wrapped(text, width - columns(mark));
    for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? mark : std::string(columns(mark), ' ')) + lines[i] + "\n";
}

void append_note(const ReportContext& context, const std::string& indent, const std::string& sentence, Tint tint, std::string& out) {
    const std::string mark = indent + "note: ";
    std::string lines;
    append_item(mark, sentence, static_cast<std::size_t>(context.style.width), lines);
    out += tinted(context.style, tint, mark) + lines.substr(mark.size());
}

void append_losses(const ReportContext& context, bool missing, std::string& out) {
    for (const Loss& loss : losses(context.profile)) {
        if ((loss.group == LossGroup::Missing) != missing || loss.kind == std::string_view("samples_lost"))
            continue; // lost samples are said beside those taken
        append_note(context, missing ? "" : "  ", loss.sentence, loss.group == LossGroup::Remark ? Tint::Dim : Tint::Warning, out);
    }
}

void append_parts(const ReportContext& context, std::string& out) {
    constexpr std::size_t most = 6;
    constexpr double smallest = 0.0005;
    const bool several = context.values.size() > 1;
    const auto room = static_cast<std::size_t>(context.style.width) - 36 - 19;
    std::size_t n = 0;
    for (const TimePart& part : time_parts(context.profile, context.locations)) {
        if (n++ == most || part.share < smallest) break;
        std::string line = fmt::format("  {} {}  {}", left(context.style, part.name, 22), right(context.style, percent(part.share), 8),
                                       left(context.style, bar(context.style, part.share, room), room));
        if (several) line += right(context.style, fmt::format("{} .. {}", percent(part.lowest), percent(part.highest)), 20);
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
}

/// A function, but for the start and the end of MPI.
bool is_worth_a_question(const Profile& profile, const Spot& spot) {
    if (!is_call(spot.kind)) return spot.kind == NodeKind::Frame || spot.kind == NodeKind::Inlined;
    return !starts_or_ends_mpi(profile, spot);
}

/// The slowest rank of every iteration, a bar per column.
void append_trend_line(const ReportContext& context, std::string& out) {
    const std::vector<Trend>& list = context.trends;
    if (list.empty() || list[0].iterations < 4) return;
    const std::vector<double>& times = list[0].slowest_rank;
    // One slow iteration should not make all others look the same.
    const double top = std::min(*std::max_element(times.begin(), times.end()), 3 * list[0].typical);
    const ChartColumns chart(times.size(), static_cast<std::size_t>(context.style.width) - 4);
    out += "  " + sparkline(context.style, times, chart, top) + "\n";
}

} // namespace

void append_header(const ReportContext& context, std::string& out) {
    const Profile& profile = context.profile;
    const TextStyle& style = context.style;
    const auto width = static_cast<std::size_t>(style.width);
    const std::string command = printable(profile.job.command);
    std::string title = command.empty() ? "(command unknown)" : command;
    if (columns(title) > width) title = left(style, title, width);
    out += tinted(style, Tint::Title, title) + "\n";

    const std::string line = spelled(style, job_line(profile, context.locations));
    for (const std::string& part : wrapped(line, width)) out += part + "\n";

    out += tinted(style, profile.complete ? Tint::Good : Tint::Warning, profile.complete ? "complete" : "INCOMPLETE") +
           (profile.complete ? "\n" : ": what is missing is in no sum below\n");
    append_losses(context, true, out);
}

void append_answers(const ReportContext& context, std::string& out) {
    const auto width = static_cast<std::size_t>(context.style.width);
    for (const Answer& answer : answers(context.profile, context.locations, context.trends)) {
        const bool is_time = answer.key == "time";
        append_heading(context, answer.question, is_time && context.values.size() > 1 ? "mean over ranks; lowest and highest rank" : "", out);
        if (is_time) append_parts(context, out);
        // The table says what the first sentence does.
        for (std::size_t i = is_time ? 1 : 0; i < answer.sentences.size(); ++i) append_item("  ", spelled(context.style, answer.sentences[i]), width, out);
        if (is_time)
            for (const std::string& sentence : nameless_modules(context.profile, context.locations)) append_note(context, "  ", sentence, Tint::Warning, out);
        if (answer.key == "change") append_trend_line(context, out);
    }
    append_losses(context, false, out);
}

void append_hints(const ReportContext& context, const std::string& place, std::string& out) {
    append_heading(context, "More", "below: phases, iterations, functions, call paths, metrics", out);
    std::vector<std::pair<std::string, std::string>> hints;
    const std::string report = "libprofile report " + (place.empty() ? std::string("FOLDER") : place);
    SpotTable table = context.spots;
    for (const HotSpot& spot : hot_spots(context.profile, context.locations, table))
        if (const Spot& what = table.spots[spot.spot]; is_worth_a_question(context.profile, what)) {
            const std::string name = printable(what.name);
            hints.emplace_back(report + " --path " + (name.find_first_of(" ()<>&;|'\"*?$") == std::string::npos ? name : "'" + name + "'"), "who calls it");
            break;
        }
    for (const Trend& trend : context.trends) {
        const std::uint64_t tenth = trend.iterations / 10;
        if (tenth == 0) break;
        hints.emplace_back(fmt::format("{} --compare 1:{} {}:{}", report, tenth, trend.iterations - tenth + 1, trend.iterations), "what has changed");
        break;
    }
    if (const auto spread = rank_spread(context.profile, context.locations))
        hints.emplace_back(fmt::format("{} --compare rank={} rest", report, spread->busiest), "what it does more");
    hints.emplace_back("libprofile view " + (place.empty() ? std::string("FOLDER") : place), "all of it in a browser");
    std::size_t longest = 0;
    for (const auto& [command, what] : hints) longest = std::max(longest, columns(command));
    const auto width = static_cast<std::size_t>(context.style.width);
    for (const auto& [command, what] : hints) {
        const bool fits = longest + 4 + 24 <= width;
        out += "  " + command + (fits ? std::string(longest - columns(command) + 2, ' ') + tinted(context.style, Tint::Dim, what) : "") + "\n";
    }
}

} // namespace libprofile::tools
