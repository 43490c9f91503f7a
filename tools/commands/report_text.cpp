#include "tools/commands/report_text.hpp"

#include "tools/analysis/losses.hpp"
#include "tools/commands/report_sections.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
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

/// Values of a metric row over the ranks with data.
std::vector<double> column(const ReportContext& context, std::size_t row) {
    std::vector<double> out;
    for (const MetricValues& values : context.values)
        out.push_back(static_cast<double>(values[row]));
    return out;
}

} // namespace

void append_heading(const ReportContext& context, const std::string& title, const std::string& remark,
                    std::string& out) {
    out += "\n" + tinted(context.style, Tint::Heading, title);
    if (!remark.empty()) {
        const auto room =
            static_cast<std::size_t>(context.style.width) - std::min<std::size_t>(columns(title) + 2, 50);
        const std::vector<std::string> lines = wrapped(remark, room);
        for (std::size_t i = 0; i < lines.size(); ++i)
            out += (i == 0 ? "  " : "\n" + std::string(columns(title) + 2, ' ')) +
                   tinted(context.style, Tint::Dim, lines[i]);
    }
    out += "\n";
}

namespace {

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

    std::uint64_t taken = 0, lost = 0, memory = 0, written = 0;
    for (const auto& [rank, info] : profile.ranks) {
        taken += info.samples_taken;
        lost += info.samples_lost;
        memory = std::max(memory, info.memory_peak);
        written += info.bytes_written;
    }
    const auto share = [&](CatalogueId id) {
        const double sum = spread_of(column(context, static_cast<std::size_t>(id))).sum;
        return context.wall == 0 ? 0 : sum / context.wall;
    };
    line = fmt::format("{} taken, {} lost; libprofile itself took {} of the time", plural(taken, "sample"),
                       count(static_cast<double>(lost)), percent(share(CatalogueId::Overhead)));
    const std::string verdict = profile.complete ? "complete" : "INCOMPLETE";
    out += tinted(style, profile.complete ? Tint::Good : Tint::Warning, verdict) + "; " + line + "\n";
    if (memory != 0)
        out += fmt::format("its memory: up to {} per process; its files: {}\n", byte_size(static_cast<double>(memory)),
                           byte_size(static_cast<double>(written)));
    for (const std::string& text : {sampling_text(profile), skips_text(profile)})
        if (!text.empty())
            for (const std::string& part : wrapped(text, width))
                out += part + "\n";
    if (const double off = share(CatalogueId::NotRecorded); off > 0)
        out += fmt::format("recording was off (MPI_Pcontrol, LIBPROFILE_START) for {} of the time\n",
                           percent(off));
    if (const std::string trace = trace_text(profile); !trace.empty())
        out += trace + "\n";

    for (const Loss& loss : losses(profile)) {
        if (loss.kind == std::string_view("samples_lost"))
            continue; // said above
        const std::vector<std::string> lines = wrapped(loss.sentence, width - 6);
        for (std::size_t i = 0; i < lines.size(); ++i)
            out += (i == 0 ? tinted(style, loss.group == LossGroup::Remark ? Tint::Dim : Tint::Warning, "note: ")
                           : std::string(6, ' ')) +
                   lines[i] + "\n";
    }
}

void append_summary(const ReportContext& context, std::string& out) {
    struct Part {
        const char* name;
        std::vector<double> share; // per rank
        double mean = 0;
    };
    const auto own = [&](CatalogueId id, std::initializer_list<CatalogueId> without) {
        std::vector<double> list;
        for (const MetricValues& values : context.values) {
            std::uint64_t value = values[static_cast<std::size_t>(id)];
            for (const CatalogueId other : without)
                value -= values[static_cast<std::size_t>(other)];
            const auto total = static_cast<double>(values[static_cast<std::size_t>(CatalogueId::Total)]);
            list.push_back(total == 0 ? 0 : static_cast<double>(value) / total);
        }
        return list;
    };
    using enum CatalogueId;
    std::vector<Part> parts = {{"Computation", own(Execution, {Mpi, OffCpu})},
                               {"MPI point-to-point", own(MpiPointToPoint, {})},
                               {"MPI collectives", own(MpiCollective, {})},
                               {"MPI synchronization", own(MpiSync, {})},
                               {"MPI one-sided", own(MpiOneSided, {})},
                               {"MPI file I/O", own(MpiFileIo, {})},
                               {"MPI init/exit", own(MpiInitExit, {})},
                               {"MPI, other", own(Mpi, {MpiCommunication, MpiSync, MpiFileIo, MpiInitExit})},
                               {"Off CPU, outside MPI", own(OffCpu, {})},
                               {"Not recorded", own(NotRecorded, {})},
                               {"libprofile", own(Overhead, {})}};
    for (Part& part : parts)
        part.mean = spread_of(part.share).sum / static_cast<double>(part.share.size());
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.mean > b.mean; });
    const bool several = context.values.size() > 1;
    append_heading(context, "Where the time goes", several ? "mean over ranks; lowest and highest rank" : "",
                   out);
    const auto room = static_cast<std::size_t>(context.style.width) - 36 - 19;
    for (const Part& part : parts) {
        if (part.mean < 0.00005)
            continue;
        const Spread spread = spread_of(part.share);
        out += fmt::format("  {} {}  {}", left(context.style, part.name, 22),
                           right(context.style, percent(part.mean), 8),
                           left(context.style, bar(context.style, part.mean, room), room));
        if (several)
            out += right(context.style,
                         fmt::format("{} .. {}", percent(spread.minimum), percent(spread.maximum)), 20);
        while (out.back() == ' ')
            out.pop_back();
        out += "\n";
    }
}

void append_phases(const ReportContext& context, std::string& out) {
    const TextStyle& style = context.style;
    append_heading(context, "Phases", "time belongs to the innermost phase; \"incl.\" adds the phases inside",
                   out);
    const std::size_t room = static_cast<std::size_t>(style.width) - 67;
    out += tinted(style, Tint::Dim,
                  fmt::format("  {} {:>10} {:>9}  {:>8}  {:>13}  {:>12}", left(style, "", room), "iterations",
                              "clusters", "share", "time per rank", "incl.")) +
           "\n";
    const auto ranks = static_cast<double>(context.values.size());
    for (std::uint32_t p = 0; p < context.profile.phases.size(); ++p) {
        const Phase& phase = context.profile.phases[p];
        std::uint64_t instances = 0, clusters = 0;
        double wall = 0, inclusive = 0;
        bool occurs = false;
        for (const Location* location : context.locations) {
            const PhaseData* data = find_phase(location, p);
            if (data == nullptr)
                continue;
            occurs = true;
            instances = std::max(instances, data->instances);
            clusters = std::max<std::uint64_t>(clusters, data->clusters.size());
            wall += static_cast<double>(data->wall_ns);
            inclusive += static_cast<double>(data->wall_inclusive_ns);
        }
        if (!occurs)
            continue;
        const bool iterates = phase.kind == PhaseKind::Iterations;
        const std::string name =
            phase.kind == PhaseKind::Outside ? "(outside all phases)" : printable(phase.name);
        const std::string times = phase.kind == PhaseKind::Outside ? ""
                                  : iterates                       ? count(static_cast<double>(instances))
                                             : count(static_cast<double>(instances)) + "x";
        out += fmt::format("  {} {} {}  {}  {}  {}\n", left(style, name, room), right(style, times, 10),
                           right(style, iterates ? count(static_cast<double>(clusters)) : "", 9),
                           right(style, percent(context.wall == 0 ? 0 : wall / context.wall), 8),
                           right(style, duration(wall / ranks, style), 13),
                           right(style, duration(inclusive / ranks, style), 12));
    }
}

void append_metrics(const ReportContext& context, std::string& out) {
    const TextStyle& style = context.style;
    const bool several = context.values.size() > 1;
    append_heading(context, "Metrics", several ? "sum over ranks; per rank: lowest, median, highest" : "",
                   out);
    const std::size_t room = static_cast<std::size_t>(style.width) - (several ? 53 : 23);
    out += tinted(style, Tint::Dim,
                  fmt::format("  {} {:>11} {:>8}", left(style, "", room), "total", "of time") +
                      (several ? fmt::format(" {:>9} {:>9} {:>9}", "min", "median", "max") : "")) +
           "\n";
    for (std::size_t r = 0; r < context.rows.size(); ++r) {
        const MetricRow& row = context.rows[r];
        const Spread spread = spread_of(column(context, r));
        if (spread.maximum == 0)
            continue;
        const bool time = row.unit == "ns" && context.wall != 0;
        std::string label = printable(row.label);
        if (row.parent >= 0 && label.starts_with("MPI ") &&
            context.rows[static_cast<std::size_t>(row.parent)].label.starts_with("MPI"))
            label.erase(0, 4); // the parent says so
        std::string line =
            "  " + left(style, std::string(static_cast<std::size_t>(row.depth) * 2, ' ') + label, room);
        line += " " + right(style, quantity(spread.sum, row.unit, style), 11);
        line += " " + right(style, time ? percent(spread.sum / context.wall) : "", 8);
        if (several)
            for (const double v : {spread.minimum, spread.median, spread.maximum})
                line += " " + right(style, quantity(v, row.unit, style), 9);
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
}

std::string report_text(const Profile& profile, const TextStyle& style, bool full_paths) {
    ReportContext context{profile, style, main_threads(profile), metric_rows(profile),
                          {},      0,     spot_table(profile),   full_paths};
    for (const Location* location : context.locations) {
        if (location == nullptr)
            continue;
        context.values.push_back(totals(profile, *location));
        context.wall +=
            static_cast<double>(context.values.back()[static_cast<std::size_t>(CatalogueId::Total)]);
    }
    std::string out;
    append_header(context, out);
    if (!context.values.empty()) {
        append_summary(context, out);
        append_phases(context, out);
        for (std::uint32_t p = 0; p < profile.phases.size(); ++p)
            if (profile.phases[p].kind == PhaseKind::Iterations) {
                append_iterations(context, p, out);
                append_kinds(context, p, out);
            }
        append_hot_spots(context, context.locations, "Hot spots",
                         "own time of functions, without what they call", out);
        append_call_tree(context, out);
        append_metrics(context, out);
    }
    if (const std::vector<const Location*> others = other_threads(profile); !others.empty())
        append_hot_spots(
            context, others, "Other threads",
            fmt::format("own time in {}, not contained in the tables above", plural(others.size(), "thread")),
            out);
    return out;
}

} // namespace libprofile::tools
