#include "tools/analysis/answers.hpp"
#include "tools/analysis/losses.hpp"
#include "tools/commands/report_sections.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/chart.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace libprofile::tools {

namespace {

std::string host_list(const Profile& profile) {
    std::map<std::string, int> hosts;
    for (const auto& [rank, info] : profile.ranks)
        ++hosts[printable(info.host)];
    if (hosts.size() == 1)
        return hosts.begin()->first;
    constexpr std::size_t shown = 3;
    std::string out;
    std::size_t n = 0;
    for (const auto& [host, ranks] : hosts) {
        if (n++ == shown)
            return fmt::format("{} and {} more hosts", out, hosts.size() - shown);
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", host, ranks);
    }
    return out;
}

std::string start_text(const Profile& profile) {
    const std::time_t start = static_cast<std::time_t>(profile.job.start_unix_ns / 1000000000u);
    std::tm local{};
    if (start == 0 || localtime_r(&start, &local) == nullptr)
        return "";
    return fmt::format(", started {:%Y-%m-%d %H:%M:%S}", local);
}

/// The library's own words are long and have several lines: "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\n...".
std::string mpi_text(const std::string& version) {
    if (version.empty())
        return "MPI unknown";
    if (version == "none")
        return "without MPI";
    std::string text = version.substr(0, version.find_first_of(",\n"));
    std::replace(text.begin(), text.end(), '\t', ' ');
    return printable(text);
}

/// How often and by what the ranks were sampled: "sampled 100 times per second of processor time (perf clock)".
std::string sampling_text(const Profile& profile) {
    std::map<std::pair<SamplingClock, std::uint64_t>, std::uint64_t> ranks;
    for (const auto& [rank, info] : profile.ranks)
        ++ranks[{info.sampling_clock, info.sampling_clock == SamplingClock::None ? 0 : info.rate}];
    std::string out;
    for (const auto& [sampling, n] : ranks) {
        const auto [clock, rate] = sampling;
        out += out.empty() ? "" : "; ";
        if (clock == SamplingClock::None)
            out += "not sampled";
        else
            out += fmt::format("sampled {} per second of {} ({} clock)", plural(rate, "time"),
                               clock == SamplingClock::Wall ? "wall time" : "processor time",
                               sampling_clock_names[static_cast<std::size_t>(clock)]);
        if (ranks.size() > 1)
            out += ": " + plural(n, "rank");
    }
    return out;
}

/// Samples without a call path, by reason; empty without any.
std::string skips_text(const Profile& profile) {
    std::uint64_t sums[skip_reason_count] = {}, all = 0;
    for (const auto& [rank, info] : profile.ranks)
        for (std::size_t i = 0; i < skip_reason_count; ++i) {
            sums[i] += info.skipped[i];
            all += info.skipped[i];
        }
    if (all == 0)
        return "";
    std::string out = plural(all, "sample") + " without a call path";
    const char* separator = ": ";
    for (std::size_t i = 0; i < skip_reason_count; ++i) {
        if (sums[i] == 0)
            continue;
        out += fmt::format("{}{} {} ({})", separator, count(static_cast<double>(sums[i])), skip_reasons[i].text,
                           skip_reasons[i].explanation);
        separator = "; ";
    }
    return out;
}

/// "last iteration of \"step\": 812 (ranks 0-2), 811 (rank 3)": of the ranks that did not come to the end, for the phase with most time.
std::string last_iterations_text(const ReportContext& context) {
    const Profile& profile = context.profile;
    std::vector<std::uint64_t> ranks;
    for (const auto& [rank, info] : profile.ranks)
        if (info.checkpoint)
            ranks.push_back(rank);
    std::vector<std::uint64_t> time(profile.phases.size());
    std::uint32_t longest = 0;
    for (const std::uint64_t rank : ranks)
        if (rank < context.locations.size() && context.locations[rank] != nullptr)
            for (const PhaseData& data : context.locations[rank]->phases)
                if (profile.phases[data.phase].kind == PhaseKind::Iterations && data.instances != 0) {
                    time[data.phase] += data.wall_inclusive_ns;
                    if (time[longest] == 0 || time[data.phase] > time[longest])
                        longest = data.phase;
                }
    if (time.empty() || time[longest] == 0)
        return "";
    std::map<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> by_last;
    for (const std::uint64_t rank : ranks)
        if (rank < context.locations.size())
            if (const PhaseData* data = find_phase(context.locations[rank], longest))
                by_last[data->instances].push_back(rank);
    std::string out = fmt::format("iterations of \"{}\" that they closed:", printable(profile.phases[longest].name));
    constexpr std::size_t shown = 6;
    std::size_t n = 0;
    for (const auto& [iterations, at] : by_last) {
        if (n++ == shown)
            return out + ", ...";
        out += fmt::format("{} {} ({})", n == 1 ? "" : ",", count(static_cast<double>(iterations)), rank_words(at));
    }
    return out;
}

bool has_checkpoints(const Profile& profile) {
    return std::any_of(profile.ranks.begin(), profile.ranks.end(), [](const auto& rank) { return rank.second.checkpoint; });
}

/// How much of the traces is there, and how well the samples' common ancestors are known.
std::string trace_text(const Profile& profile) {
    std::uint64_t samples = 0, dropped = 0, threads = 0;
    std::uint64_t kinds[3] = {};
    for (const Location& location : profile.locations) {
        const Trace& trace = location.trace;
        threads += trace.stride != 0 ? 1 : 0;
        samples += trace.samples.size();
        dropped += trace.dropped;
        for (const TraceSample& sample : trace.samples)
            ++kinds[static_cast<std::size_t>(sample.lca_kind)];
    }
    if (threads == 0)
        return "";
    std::string line = fmt::format("trace: {} of {}", plural(samples, "sample"), plural(threads, "thread"));
    if (dropped != 0)
        line += fmt::format(" ({} more thinned out)", count(static_cast<double>(dropped)));
    const auto share = [&](LcaKind kind) {
        const auto n = static_cast<double>(kinds[static_cast<std::size_t>(kind)]);
        return percent(samples == 0 ? 0 : n / static_cast<double>(samples));
    };
    return line + fmt::format(", LCA exact {}, bound {}, unknown {}", share(LcaKind::Exact),
                              share(LcaKind::Bound), share(LcaKind::Unknown));
}

/// A mark in front and the lines of the text behind it.
void append_item(const std::string& mark, const std::string& text, std::size_t width, std::string& out) {
    const std::vector<std::string> lines = wrapped(text, width - columns(mark));
    for (std::size_t i = 0; i < lines.size(); ++i)
        out += (i == 0 ? mark : std::string(columns(mark), ' ')) + lines[i] + "\n";
}

void append_note(const ReportContext& context, const std::string& indent, const std::string& sentence, Tint tint, std::string& out) {
    const std::string mark = indent + "note: ";
    std::string lines;
    append_item(mark, sentence, static_cast<std::size_t>(context.style.width), lines);
    out += tinted(context.style, tint, mark) + lines.substr(mark.size());
}

/// Modules whose functions have no names though much of the time is theirs or in MPI calls of theirs: without names nobody knows
/// where the time goes.
void append_nameless(const ReportContext& context, std::string& out) {
    constexpr double much = 0.1;
    const Profile& profile = context.profile;
    std::map<std::uint32_t, double> times; // by module
    for (const Location* location : context.locations) {
        if (location == nullptr)
            continue;
        for (const PhaseData& data : location->phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric != 0)
                    return;
                const CallPath* path = &profile.paths[cell.path];
                if (path->kind == NodeKind::Mpi)
                    path = &profile.paths[path->parent];
                if (path->kind == NodeKind::Frame && profile.sites[path->target].name.function.empty())
                    times[profile.sites[path->target].module] += static_cast<double>(cell.value);
            });
    }
    for (const auto& [module, time] : times)
        if (time > much * context.wall)
            append_note(context, "  ",
                        fmt::format("functions of {} have no names here, and it has {} of the time: it was stripped, or is not on this "
                                    "machine; install its debug symbols or compile it with -g",
                                    printable(base_name(profile.modules[module].path)), percent(time / context.wall)),
                        Tint::Warning, out);
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
        if (n++ == most || part.share < smallest)
            break;
        std::string line = fmt::format("  {} {}  {}", left(context.style, part.name, 22), right(context.style, percent(part.share), 8),
                                       left(context.style, bar(context.style, part.share, room), room));
        if (several)
            line += right(context.style, fmt::format("{} .. {}", percent(part.lowest), percent(part.highest)), 20);
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
}

/// A function, but for the start and the end of MPI.
bool is_worth_a_question(const Profile& profile, const Spot& spot) {
    if (spot.kind != NodeKind::Mpi)
        return spot.kind == NodeKind::Frame || spot.kind == NodeKind::Inlined;
    return std::none_of(profile.functions.begin(), profile.functions.end(), [&](const Function& function) {
        return function.category == TimeCategory::MpiInitExit && function.name == spot.name;
    });
}

/// The slowest rank of every iteration, a bar per column.
void append_trend_line(const ReportContext& context, std::string& out) {
    const std::vector<Trend>& list = context.trends;
    if (list.empty() || list[0].iterations < 4)
        return;
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
    if (columns(title) > width)
        title = left(style, title, width);
    out += tinted(style, Tint::Title, title) + "\n";

    std::uint64_t longest = 0;
    for (const Location* location : context.locations)
        if (location != nullptr)
            longest = std::max(longest, location->wall_ns);
    std::string line = plural(profile.job.ranks, "rank");
    if (const std::string hosts = host_list(profile); !hosts.empty())
        line += " on " + hosts;
    line += fmt::format(", {}{}, ran {}", mpi_text(profile.job.mpi), start_text(profile),
                        duration(static_cast<double>(longest), style));
    for (const std::string& part : wrapped(line, width))
        out += part + "\n";

    out += tinted(style, profile.complete ? Tint::Good : Tint::Warning, profile.complete ? "complete" : "INCOMPLETE") +
           (profile.complete ? "\n" : ": what is missing is in no sum below\n");
    append_losses(context, true, out);
    if (const std::string last = last_iterations_text(context); !last.empty())
        append_note(context, "", last, Tint::Warning, out);
}

void append_answers(const ReportContext& context, std::string& out) {
    const auto width = static_cast<std::size_t>(context.style.width);
    for (const Answer& answer : answers(context.profile, context.locations, context.trends)) {
        const bool is_time = answer.key == "time";
        append_heading(context, answer.question,
                       is_time && context.values.size() > 1 ? "mean over ranks; lowest and highest rank" : "", out);
        if (is_time)
            append_parts(context, out);
        // The table says what the first sentence does.
        for (std::size_t i = is_time ? 1 : 0; i < answer.sentences.size(); ++i)
            append_item("  ", spelled(context.style, answer.sentences[i]), width, out);
        if (answer.key == "change")
            append_trend_line(context, out);
    }
}

void append_cost(const ReportContext& context, std::string& out) {
    const Profile& profile = context.profile;
    const auto width = static_cast<std::size_t>(context.style.width);
    append_heading(context, "What libprofile cost", "", out);
    std::uint64_t taken = 0, lost = 0, memory = 0, written = 0;
    for (const auto& [rank, info] : profile.ranks) {
        taken += info.samples_taken;
        lost += info.samples_lost;
        memory = std::max(memory, info.memory_peak);
        written += info.bytes_written;
    }
    const auto share = [&](CatalogueId id) {
        double sum = 0;
        for (const MetricValues& values : context.values)
            sum += static_cast<double>(values[static_cast<std::size_t>(id)]);
        return context.wall == 0 ? 0 : sum / context.wall;
    };
    std::string line = percent(share(CatalogueId::Overhead)) + " of the time";
    if (memory != 0)
        line += fmt::format(", up to {} of memory per process, {} of files", byte_size(static_cast<double>(memory)),
                            byte_size(static_cast<double>(written)));
    append_item("  ", line, width, out);
    line = fmt::format("{} taken, {} lost", plural(taken, "sample"), count(static_cast<double>(lost)));
    if (lost != 0)
        line += fmt::format(" ({})", percent(static_cast<double>(lost) / static_cast<double>(taken + lost)));
    if (const std::string how = sampling_text(profile); !how.empty())
        line += "; " + how;
    for (const std::string& text : {line, skips_text(profile), trace_text(profile)})
        if (!text.empty())
            append_item("  ", text, width, out);
    // A function's share has the error of a share of so many hits.
    constexpr std::uint64_t few = 1000;
    if (taken != 0 && taken < few)
        append_item("  ", fmt::format("few samples: shares of functions below about {} are a matter of chance",
                                      percent(std::min(1.0, 10 / static_cast<double>(std::max<std::uint64_t>(taken, 10))))),
                    width, out);
    if (const double off = share(CatalogueId::NotRecorded); off > 0)
        append_item("  ", fmt::format("{} of the time was not recorded (MPI_Pcontrol, LIBPROFILE_START{})", percent(off),
                                      has_checkpoints(profile) ? "; what killed ranks did outside of closed iterations" : ""),
                    width, out);
    append_losses(context, false, out);
    append_nameless(context, out);
}

void append_hints(const ReportContext& context, const std::string& place, std::string& out) {
    append_heading(context, "More", "below: phases, iterations, functions, call paths, metrics", out);
    std::vector<std::pair<std::string, std::string>> hints;
    const std::string report = "libprofile report " + (place.empty() ? std::string("FOLDER") : place);
    SpotTable table = context.spots;
    for (const HotSpot& spot : hot_spots(context.profile, context.locations, table))
        if (const Spot& what = table.spots[spot.spot]; is_worth_a_question(context.profile, what)) {
            const std::string name = printable(what.name);
            hints.emplace_back(report + " --path " + (name.find_first_of(" ()<>&;|'\"*?$") == std::string::npos ? name : "'" + name + "'"),
                               "who calls it");
            break;
        }
    for (const Trend& trend : context.trends) {
        const std::uint64_t tenth = trend.iterations / 10;
        if (tenth == 0)
            break;
        hints.emplace_back(fmt::format("{} --compare 1:{} {}:{}", report, tenth, trend.iterations - tenth + 1, trend.iterations),
                           "what has changed");
        break;
    }
    if (const auto spread = rank_spread(context.profile, context.locations))
        hints.emplace_back(fmt::format("{} --compare rank={} rest", report, spread->busiest), "what it does more");
    hints.emplace_back("libprofile view " + (place.empty() ? std::string("FOLDER") : place), "all of it in a browser");
    std::size_t longest = 0;
    for (const auto& [command, what] : hints)
        longest = std::max(longest, columns(command));
    const auto width = static_cast<std::size_t>(context.style.width);
    for (const auto& [command, what] : hints) {
        const bool fits = longest + 4 + 24 <= width;
        out += "  " + command + (fits ? std::string(longest - columns(command) + 2, ' ') + tinted(context.style, Tint::Dim, what) : "") + "\n";
    }
}

} // namespace libprofile::tools
