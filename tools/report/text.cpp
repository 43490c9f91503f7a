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

void append_phases(const ReportContext& context, TextWriter& to) {
    const TextStyle& style = to.style();
    to.heading("Phases", "time belongs to the innermost phase; \"incl.\" adds the phases inside");
    const std::size_t room = to.width() - 67;
    to.dim(fmt::format("  {} {:>10} {:>9}  {:>8}  {:>13}  {:>12}", left(style, "", room), "iterations", "clusters", "share", "time per rank", "incl."));
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
        to.line(fmt::format("  {} {} {}  {}  {}  {}", left(style, name, room), right(style, times, 10),
                            right(style, iterates ? count(static_cast<double>(clusters)) : "", 9),
                            right(style, percent(context.wall == 0 ? 0 : wall / context.wall), 8), right(style, duration(wall / ranks, style), 13),
                            right(style, duration(inclusive / ranks, style), 12)));
    }
}

void append_metrics(const ReportContext& context, TextWriter& to) {
    const TextStyle& style = to.style();
    const bool several = context.values.size() > 1;
    to.heading("Metrics", several ? "sum over ranks; per rank: lowest, median, highest" : "");
    const std::size_t room = to.width() - (several ? 53 : 23);
    to.dim(fmt::format("  {} {:>11} {:>8}", left(style, "", room), "total", "of time") +
           (several ? fmt::format(" {:>9} {:>9} {:>9}", "min", "median", "max") : ""));
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
        to.row(line);
    }
}

std::string report_text(const Profile& profile, const TextStyle& style, bool full_paths, const std::string& path) {
    ReportContext context{profile, main_threads(profile), metric_rows(profile), {}, 0, spot_table(profile), full_paths, {}};
    for (const Location* location : context.locations) {
        if (location == nullptr) continue;
        context.values.push_back(totals(profile, *location));
        context.wall += static_cast<double>(context.values.back()[static_cast<std::size_t>(CatalogueId::Total)]);
    }
    context.trends = trends(profile, context.locations);
    TextWriter to(style);
    append_header(context, to);
    append_findings(context, to);
    append_hints(context, path, to);
    if (!context.values.empty()) {
        append_phases(context, to);
        for (std::uint32_t p = 0; p < profile.phases.size(); ++p)
            if (profile.phases[p].kind == PhaseKind::Iterations) {
                const KindsOfPhase kinds = match_kinds(profile, context.locations, p);
                append_iterations(context, p, kinds, to);
                append_kinds(context, p, kinds, to);
            }
        append_hot_spots(context, context.locations, "Hot spots", "own time of functions, without what they call", to);
        append_call_tree(context, to);
        append_regions(context, to);
        append_partners(context, to);
        append_metrics(context, to);
    }
    append_system(context, to);
    if (const std::vector<const Location*> others = worker_threads(profile); !others.empty())
        append_hot_spots(context, others, "Other threads", fmt::format("own time in {}, not contained in the tables above", plural(others.size(), "thread")),
                         to);
    return to.text();
}

} // namespace libprofile::tools
