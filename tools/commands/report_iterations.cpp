#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/iterations.hpp"
#include "tools/commands/report_sections.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/chart.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t chart_height = 8;
constexpr std::size_t clusters_shown = 8;
constexpr std::size_t clusters_unjoined = 10; // up to so many are shown as they are

/// The rank that the others wait for: the one with most time outside MPI in the phase. What it waits for its own threads is
/// part of that: to others it is late all the same.
std::size_t slowest_rank(const ReportContext& context, std::uint32_t phase) {
    std::size_t slowest = 0;
    double most = -1;
    for (std::size_t rank = 0; rank < context.locations.size(); ++rank) {
        const PhaseData* data = find_phase(context.locations[rank], phase);
        if (data == nullptr)
            continue;
        const MetricValues values = totals(context.profile, *data);
        const double busy = static_cast<double>(values[static_cast<std::size_t>(CatalogueId::Execution)]) -
                            static_cast<double>(values[static_cast<std::size_t>(CatalogueId::Mpi)]);
        if (busy > most)
            slowest = rank;
        most = std::max(most, busy);
    }
    return slowest;
}

/// Per iteration the share of MPI in the time, mean over ranks: estimated, because MPI time is known by cluster.
std::vector<double> mpi_share(const ReportContext& context, std::uint32_t phase, std::size_t iterations) {
    std::vector<double> mpi(iterations), time(iterations);
    std::vector<std::vector<double>> estimates(context.locations.size()); // summed in order: the sums do not depend on threads
    in_parallel(context.locations.size(), [&](std::size_t l) {
        if (const PhaseData* data = find_phase(context.locations[l], phase))
            estimates[l] = reconstructed_series(context.profile, *data, static_cast<std::size_t>(CatalogueId::Mpi));
    });
    for (std::size_t l = 0; l < estimates.size(); ++l) {
        const PhaseData* data = find_phase(context.locations[l], phase);
        for (std::size_t i = 0; i < estimates[l].size(); ++i) {
            mpi[i] += estimates[l][i];
            time[i] += static_cast<double>(data->iteration_ns[i]);
        }
    }
    for (std::size_t i = 0; i < iterations; ++i)
        mpi[i] = time[i] == 0 ? 0 : std::min(1.0, mpi[i] / time[i]);
    return mpi;
}

/// A..Z, a..z by size, then '*'; '-' for iterations outside all clusters.
char letter_of(std::size_t place) {
    if (place < 26)
        return static_cast<char>('A' + place);
    return place < 52 ? static_cast<char>('a' + (place - 26)) : '*';
}

/// The cluster of the slowest iteration of every column, so that peaks of the graph show what they are.
std::string cluster_line(const PhaseData& data, const std::vector<ClusterSummary>& summaries,
                         const ChartColumns& chart) {
    std::vector<char> letters(data.clusters.size() + 1, '-');
    for (std::size_t i = 0; i < summaries.size(); ++i)
        letters[summaries[i].cluster] = letter_of(i);
    std::string out;
    for (std::size_t c = 0; c < chart.width; ++c) {
        std::size_t slowest = chart.begin(c);
        if (slowest >= data.iteration_ns.size()) {
            out += ' ';
            continue;
        }
        for (std::size_t i = slowest; i < std::min(chart.end(c), data.iteration_ns.size()); ++i)
            if (data.iteration_ns[i] > data.iteration_ns[slowest])
                slowest = i;
        out += letters[data.cluster_of_iteration[slowest]];
    }
    return out;
}

/// What is known of single iterations.
std::string accuracy_of(const SeriesData& series) {
    const std::uint64_t kept = series.iterations_with_cells();
    const std::uint64_t whole = series.iterations_with_totals();
    const std::string dropped =
        whole == series.iterations()
            ? std::string()
            : fmt::format("; of {} of {} iterations nothing but the wall time, the rest is estimated by clusters, because memory ran out",
                          count(static_cast<double>(series.iterations() - whole)), count(static_cast<double>(series.iterations())));
    if (kept == 0)
        return "no room was left for the MPI calls of single iterations" + dropped;
    const SeriesAccuracyRecord& time = series.accuracy[static_cast<std::size_t>(Metric::Time)];
    const auto share = [&](double ns) {
        return time.largest_value == 0 ? 0.0 : 100.0 * ns / static_cast<double>(time.largest_value);
    };
    const double cells = static_cast<double>(std::max<std::uint64_t>(time.cells, 1));
    const std::string which = kept == series.iterations() ? std::string("every iteration") : fmt::format("{} of {} iterations", count(static_cast<double>(kept)), count(static_cast<double>(series.iterations())));
    const bool exact_bytes = std::all_of(series.accuracy.begin() + 1, series.accuracy.end(),
                                         [](const SeriesAccuracyRecord& a) { return a.largest == 0; });
    return fmt::format("MPI calls of {} are kept, their times within {:.2g} % of the longest (mean {:.2g} %), {} exactly",
                       which, share(static_cast<double>(time.largest)), share(static_cast<double>(time.sum) / cells),
                       exact_bytes ? "the rest" : "counts") +
           dropped;
}

void append_chart(const ReportContext& context, std::uint32_t phase, std::size_t rank, const PhaseData& data,
                  const std::vector<ClusterSummary>& summaries, std::string& out) {
    const TextStyle& style = context.style;
    const IterationSeries series = iteration_times(context.locations, phase);
    const bool several = context.values.size() > 1;
    const std::size_t slowest = static_cast<std::size_t>(
        std::max_element(series.maximum.begin(), series.maximum.end()) - series.maximum.begin());
    const Spread medians = spread_of(series.median);
    const char* legend = style.unicode ? "over ranks: █ up to the lowest, ▓ median, ░ highest"
                                       : "over ranks: # up to the lowest, + median, . highest";
    append_heading(context,
                   fmt::format("Iterations of \"{}\"", printable(context.profile.phases[phase].name)),
                   std::string("wall time") + (several ? std::string(" ") + legend : std::string()), out);
    const ChartColumns chart(series.median.size(), static_cast<std::size_t>(style.width) - chart_axis - 1);
    for (const std::string& line : draw_chart(series, style, chart, chart_height))
        out += line + "\n";

    const std::size_t label = chart_axis - 1;
    if (!data.iteration_ns.empty()) {
        const std::vector<double> share = mpi_share(context, phase, series.median.size());
        if (*std::max_element(share.begin(), share.end()) > 0)
            out += right(style, "MPI share", label) + " " + sparkline(style, share, chart, 1.0) + "\n";
        out += right(style, "cluster", label) + " " + cluster_line(data, summaries, chart) + "\n";
    }
    std::string facts = fmt::format("median {}; slowest {}: iteration {}", duration(medians.median, style),
                                    duration(series.maximum[slowest], style), slowest + 1);
    if (several)
        facts += fmt::format(" on rank {}; MPI share: mean over ranks{}; cluster: rank {}", series.slowest[slowest],
                             data.series ? "" : ", estimated", rank);
    if (data.series)
        facts += "; " + accuracy_of(*data.series);
    for (const std::string& line : wrapped(facts, static_cast<std::size_t>(style.width) - chart_axis))
        out += std::string(chart_axis, ' ') + tinted(style, Tint::Dim, line) + "\n";
}

/// "+12.1 ms compute_forces", the largest three, then counts that differ.
std::string distinction(const ReportContext& context, const ClusterSummary& summary) {
    std::vector<std::string> words;
    for (const Difference& d : summary.differences) {
        if (words.size() == 3)
            break;
        const Spot& spot = context.spots.spots[d.spot];
        words.push_back(fmt::format("{}{} {}{}{}", d.time > 0 ? "+" : "", duration(d.time, context.style),
                                    printable(shown_name(spot.kind, spot.name)),
                                    spot.caller.empty() ? "" : " in " + printable(spot.caller),
                                    d.only_here ? " (only here)" : ""));
    }
    if (!summary.metrics.empty()) {
        const MetricDifference& d = summary.metrics.front();
        const MetricRow& row = context.rows[d.row];
        const std::string amount = d.here == 0      ? "no"
                                   : d.typical == 0 ? "+" + quantity(d.here, row.unit, context.style)
                                                    : fmt::format("{:.2g}x", d.here / d.typical);
        words.push_back(amount + " " + printable(row.label));
    }
    std::string out;
    if (!summary.times.is_one_kind())
        out = fmt::format("not one kind: {} .. {}", duration(summary.times.shortest, context.style), duration(summary.times.longest, context.style));
    for (const std::string& word : words)
        out += (out.empty() ? "" : "; ") + word;
    return out.empty() ? "a typical iteration" : out;
}

void append_clusters(const ReportContext& context, std::size_t rank, const PhaseData& data,
                     std::size_t stored, std::uint32_t phase, const std::vector<ClusterSummary>& summaries,
                     std::string& out) {
    const TextStyle& style = context.style;
    std::string remark = "kinds of iteration and how they differ from the typical (median) one";
    if (context.values.size() > 1)
        remark += fmt::format("; rank {}, which computes most", rank);
    if (stored > data.clusters.size())
        remark += fmt::format("; {} clusters, similar ones joined", stored);
    append_heading(context, fmt::format("Clusters of \"{}\"", printable(context.profile.phases[phase].name)),
                   remark, out);
    const std::size_t indent = 53;
    const auto room = static_cast<std::size_t>(style.width) - indent;
    out += tinted(style, Tint::Dim, fmt::format("  {:>3} {:>16} {:>8}  {:>18}", "", "iterations", "median", "5 to 95 % of them")) + "\n";
    std::uint64_t more = 0;
    for (std::size_t i = 0; i < summaries.size(); ++i) {
        const ClusterSummary& s = summaries[i];
        if (i >= clusters_unjoined) {
            more += s.size;
            continue;
        }
        const double share = static_cast<double>(s.size) / static_cast<double>(data.instances);
        const std::string size = fmt::format("{} ({})", count(static_cast<double>(s.size)), percent(share));
        const std::string range = s.size < 2 ? std::string() : fmt::format("{} .. {}", duration(s.times.low, style), duration(s.times.high, style));
        out += fmt::format("  {:>3} {} {}  {}", letter_of(i), right(style, size, 16), right(style, duration(s.times.median, style), 8), right(style, range, 18));
        const std::vector<std::string> lines = wrapped(distinction(context, s), room);
        for (std::size_t l = 0; l < lines.size(); ++l)
            out += (l == 0 ? "  " : std::string(indent, ' ')) + lines[l] + "\n";
    }
    if (more != 0)
        out += tinted(style, Tint::Dim,
                      fmt::format("  {:>3} {:>16}  in {} smaller clusters", "...",
                                  count(static_cast<double>(more)), summaries.size() - clusters_unjoined)) +
               "\n";
    // Why is said on the first screen.
    if (data.unclustered != 0)
        out += tinted(style, Tint::Dim, fmt::format("  {:>3} {:>16}  in no cluster", "-", count(static_cast<double>(data.unclustered)))) + "\n";
}

} // namespace

void append_iterations(const ReportContext& context, std::uint32_t phase, std::string& out) {
    const std::size_t rank = slowest_rank(context, phase);
    const PhaseData* data = find_phase(context.locations[rank], phase);
    if (data == nullptr || data->iteration_ns.empty())
        return;
    // Dozens of clusters that differ by little are for a program; people want to see the kinds of iteration.
    const bool join = data->clusters.size() > clusters_unjoined;
    const PhaseData shown = join ? join_similar_clusters(*data, clusters_shown) : *data;
    const std::vector<ClusterSummary> summaries = summarize_clusters(context.profile, shown, context.spots);
    append_chart(context, phase, rank, shown, summaries, out);
    append_clusters(context, rank, shown, data->clusters.size(), phase, summaries, out);
}

} // namespace libprofile::tools
