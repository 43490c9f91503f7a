#include "tools/report/text.hpp"

#include "tools/names/labels.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// Values of a metric row over the ranks with data.
std::vector<double> column(const ReportContext& context, std::size_t row) {
    std::vector<double> out;
    for (const MetricValues& values : context.values) out.push_back(static_cast<double>(values[row]));
    return out;
}

} // namespace

void append_heading(const ReportContext& context, const std::string& title, const std::string& remark, std::string& out) {
    out += "\n" + tinted(context.style, Tint::Heading, title);
    if (!remark.empty()) {
        const auto room = static_cast<std::size_t>(context.style.width) - std::min<std::size_t>(columns(title) + 2, 50);
        const std::vector<std::string> lines = wrapped(remark, room);
        for (std::size_t i = 0; i < lines.size(); ++i)
            out += (i == 0 ? "  " : "\n" + std::string(columns(title) + 2, ' ')) + tinted(context.style, Tint::Dim, lines[i]);
    }
    out += "\n";
}

void append_phases(const ReportContext& context, std::string& out) {
    const TextStyle& style = context.style;
    append_heading(context, "Phases", "time belongs to the innermost phase; \"incl.\" adds the phases inside", out);
    const std::size_t room = static_cast<std::size_t>(style.width) - 67;
    out += tinted(style, Tint::Dim,
                  fmt::format("  {} {:>10} {:>9}  {:>8}  {:>13}  {:>12}", left(style, "", room), "iterations", "clusters", "share", "time per rank", "incl.")) +
           "\n";
    const auto ranks = static_cast<double>(context.values.size());
    for (std::uint32_t p = 0; p < context.profile.phases.size(); ++p) {
        const Phase& phase = context.profile.phases[p];
        std::uint64_t instances = 0, clusters = 0;
        double wall = 0, inclusive = 0;
        for (const Location* location : context.locations) {
            const PhaseData* data = find_phase(location, p);
            if (data == nullptr) continue;
            instances = std::max(instances, data->instances);
            clusters = std::max<std::uint64_t>(clusters, data->clusters.size());
            wall += static_cast<double>(data->wall_ns);
            inclusive += static_cast<double>(data->wall_inclusive_ns);
        }
        if (instances == 0 && inclusive == 0) // begun after the last that is known of a job that was killed
            continue;
        const bool iterates = phase.kind == PhaseKind::Iterations;
        const std::string name = phase.kind == PhaseKind::Outside ? "(outside all phases)" : printable(phase.name);
        const std::string times = phase.kind == PhaseKind::Outside ? ""
                                  : iterates                       ? count(static_cast<double>(instances))
                                                                   : count(static_cast<double>(instances)) + "x";
        out += fmt::format("  {} {} {}  {}  {}  {}\n", left(style, name, room), right(style, times, 10),
                           right(style, iterates ? count(static_cast<double>(clusters)) : "", 9),
                           right(style, percent(context.wall == 0 ? 0 : wall / context.wall), 8), right(style, duration(wall / ranks, style), 13),
                           right(style, duration(inclusive / ranks, style), 12));
    }
}

void append_metrics(const ReportContext& context, std::string& out) {
    const TextStyle& style = context.style;
    const bool several = context.values.size() > 1;
    append_heading(context, "Metrics", several ? "sum over ranks; per rank: lowest, median, highest" : "", out);
    const std::size_t room = static_cast<std::size_t>(style.width) - (several ? 53 : 23);
    out += tinted(style, Tint::Dim,
                  fmt::format("  {} {:>11} {:>8}", left(style, "", room), "total", "of time") +
                      (several ? fmt::format(" {:>9} {:>9} {:>9}", "min", "median", "max") : "")) +
           "\n";
    for (std::size_t r = 0; r < context.rows.size(); ++r) {
        const MetricRow& row = context.rows[r];
        const Spread spread = spread_of(column(context, r));
        if (spread.maximum == 0) continue;
        const bool time = row.unit == "ns" && context.wall != 0;
        std::string label = printable(row.label);
        if (row.parent >= 0 && label.starts_with("MPI ") && context.rows[static_cast<std::size_t>(row.parent)].label.starts_with("MPI"))
            label.erase(0, 4); // the parent says so
        std::string line = "  " + left(style, std::string(static_cast<std::size_t>(row.depth) * 2, ' ') + label, room);
        line += " " + right(style, quantity(spread.sum, row.unit, style), 11);
        line += " " + right(style, time ? percent(spread.sum / context.wall) : "", 8);
        if (several)
            for (const double v : {spread.minimum, spread.median, spread.maximum}) line += " " + right(style, quantity(v, row.unit, style), 9);
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
}

std::string report_text(const Profile& profile, const TextStyle& style, bool full_paths, const std::string& place) {

    ReportContext context{profile, style, main_threads(profile), metric_rows(profile), {}, 0, spot_table(profile), full_paths, {}};
    for (const Location* location : context.locations) {
        if (location == nullptr) continue;
        context.values.push_back(totals(profile, *location));
        context.wall += static_cast<double>(context.values.back()[static_cast<std::size_t>(CatalogueId::Total)]);
    }
    context.trends = trends(profile, context.locations);
    std::string out;
    append_header(context, out);
    append_answers(context, out);
    append_hints(context, place, out);
    if (!context.values.empty()) {
        append_phases(context, out);
        for (std::uint32_t p = 0; p < profile.phases.size(); ++p)
            if (profile.phases[p].kind == PhaseKind::Iterations) {
                const KindsOfPhase kinds = match_kinds(profile, context.locations, p);
                append_iterations(context, p, kinds, out);
                append_kinds(context, p, kinds, out);
            }
        append_hot_spots(context, context.locations, "Hot spots", "own time of functions, without what they call", out);
        append_call_tree(context, out);
        append_regions(context, out);
        append_metrics(context, out);
    }
    append_system(context, out);
    if (const std::vector<const Location*> others = other_threads(profile); !others.empty())
        append_hot_spots(context, others, "Other threads", fmt::format("own time in {}, not contained in the tables above", plural(others.size(), "thread")),
                         out);
    return out;
}

} // namespace libprofile::tools
