#include "tools/analysis/iterations.hpp"
#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/names/labels.hpp"
#include "tools/plot/text_chart.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::size_t chart_height = 8;
constexpr std::size_t clusters_shown = 8;
constexpr std::size_t clusters_unjoined = 10; // up to so many are shown as they are

/// What the iterations of a rank, with the phases inside them, come to.
struct RankSums {
    double busy = -1;        // outside MPI; -1: the rank does not have the phase
    bool is_known = true;    // false if the profile does not tell where the time of phases inside went
    std::vector<double> mpi; // by iteration: MPI time; NaN: not known
};

/// By rank. The values of single iterations, of which there may be millions, are in memory for as many ranks as there are threads.
std::vector<RankSums> sums_of_ranks(const ReportContext& context, std::uint32_t phase) {
    std::vector<RankSums> sums(context.locations.size());
    in_parallel(sums.size(), [&](std::size_t rank) {
        const PhaseData* data = find_phase(context.locations[rank], phase);
        if (data == nullptr) return;
        constexpr auto mpi = static_cast<std::size_t>(CatalogueId::Mpi);
        RankSums& to = sums[rank];
        to.mpi = reconstructed_series(context.profile, *data, mpi);
        MetricValues values = totals(context.profile, *data);
        const RowsInside inside = rows_inside(context.profile, *context.locations[rank], *data);
        for (std::size_t i = 0; i < inside.rows.size(); ++i) {
            add(values, inside.rows[i]);
            to.is_known = to.is_known && inside.is_told(i);
            if (i < to.mpi.size()) to.mpi[i] = inside.is_told(i) ? to.mpi[i] + static_cast<double>(inside.rows[i][mpi]) : std::nan("");
        }
        to.busy = static_cast<double>(values[static_cast<std::size_t>(CatalogueId::Execution)]) - static_cast<double>(values[mpi]);
    });
    return sums;
}

/// The rank that the others wait for: the one with most time outside MPI in the phase. What it waits for its own threads is
/// part of that: to others it is late all the same.
struct SlowestRank {
    std::size_t rank = 0;
    bool is_known = true; // false if the profile does not tell where the time of phases inside went; then by what it tells
};
SlowestRank slowest_rank(const std::vector<RankSums>& sums) {
    SlowestRank slowest;
    double most = -1;
    for (std::size_t rank = 0; rank < sums.size(); ++rank) {
        slowest.is_known = slowest.is_known && sums[rank].is_known;
        if (sums[rank].busy > most) slowest.rank = rank;
        most = std::max(most, sums[rank].busy);
    }
    return slowest;
}

/// Per iteration the share of MPI in the time, mean over ranks: estimated, because MPI time is known by cluster. NaN: not known.
std::vector<double> mpi_share(const ReportContext& context, std::uint32_t phase, const std::vector<RankSums>& sums, std::size_t iterations) {
    std::vector<double> mpi(iterations), time(iterations);
    for (std::size_t l = 0; l < sums.size(); ++l) { // in order: the sums do not depend on threads
        const PhaseData* data = find_phase(context.locations[l], phase);
        for (std::size_t i = 0; i < sums[l].mpi.size(); ++i) {
            mpi[i] += sums[l].mpi[i];
            time[i] += static_cast<double>(data->iteration_ns[i]);
        }
    }
    for (std::size_t i = 0; i < iterations; ++i)
        if (!std::isnan(mpi[i])) mpi[i] = time[i] == 0 ? 0 : std::min(1.0, mpi[i] / time[i]);
    return mpi;
}

/// The names of clusters for display, each of which stands for some of the stored ones: "B", "A2", "A1,3 C"; "A" for all that are of kind A.
std::vector<std::string> shown_names(const PhaseData& stored, const PhaseData& shown, const std::vector<std::uint32_t>& kind_of_cluster) {
    const std::vector<std::string> names = cluster_names(stored, kind_of_cluster);
    using Numbers = std::set<std::pair<std::size_t, std::string>>;                  // with their lengths: in the order of the numbers
    std::vector<std::map<std::uint32_t, Numbers>> parts(shown.clusters.size() + 1); // by kind
    std::map<std::uint32_t, Numbers> all;
    for (std::size_t i = 0; i < stored.cluster_of_iteration.size(); ++i)
        if (const std::uint32_t c = stored.cluster_of_iteration[i]; c < kind_of_cluster.size()) {
            const std::uint32_t kind = kind_of_cluster[c];
            const std::string number = names[c].substr(kind_letters(kind).size());
            parts[shown.cluster_of_iteration[i]][kind].emplace(number.size(), number);
            all[kind].emplace(number.size(), number);
        }
    std::vector<std::string> result;
    for (const auto& part : parts) {
        std::string text;
        for (const auto& [kind, numbers] : part) {
            text += (text.empty() ? "" : " ") + kind_letters(kind);
            if (numbers.size() == all[kind].size()) continue;
            for (auto number = numbers.begin(); number != numbers.end(); ++number) text += (number == numbers.begin() ? "" : ",") + number->second;
        }
        result.push_back(text.empty() ? "-" : text);
    }
    return result;
}

/// The kind of the slowest iteration of every column, so that peaks of the graph show what they are.
std::string cluster_line(const PhaseData& data, const std::vector<std::uint32_t>& kind_of_cluster, const ChartColumns& chart) {
    std::string out;
    for (std::size_t c = 0; c < chart.width; ++c) {
        std::size_t slowest = chart.begin(c);
        if (slowest >= data.iteration_ns.size()) {
            out += ' ';
            continue;
        }
        for (std::size_t i = slowest; i < std::min(chart.end(c), data.iteration_ns.size()); ++i)
            if (data.iteration_ns[i] > data.iteration_ns[slowest]) slowest = i;
        const std::uint32_t cluster = data.cluster_of_iteration[slowest];
        const std::string letters = cluster < kind_of_cluster.size() ? kind_letters(kind_of_cluster[cluster]) : "-";
        out += letters.size() == 1 ? letters : "*";
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
            : fmt::format("; {} of {} iterations have only their wall time, the rest is estimated from clusters, because memory ran out",
                          count(static_cast<double>(series.iterations() - whole)), count(static_cast<double>(series.iterations())));
    if (kept == 0) return "no room was left for the MPI calls of single iterations" + dropped;
    const SeriesAccuracyRecord& time = series.accuracy[static_cast<std::size_t>(Metric::Time)];
    const auto share = [&](double ns) { return time.largest_value == 0 ? 0.0 : 100.0 * ns / static_cast<double>(time.largest_value); };
    const double cells = static_cast<double>(std::max<std::uint64_t>(time.cells, 1));
    const std::string which = kept == series.iterations()
                                  ? std::string("every iteration")
                                  : fmt::format("{} of {} iterations", count(static_cast<double>(kept)), count(static_cast<double>(series.iterations())));
    const bool exact_bytes = std::all_of(series.accuracy.begin() + 1, series.accuracy.end(), [](const SeriesAccuracyRecord& a) { return a.largest == 0; });
    return fmt::format("MPI calls of {} are kept, their times within {:.2g} % of the longest (mean {:.2g} %), {} exactly", which,
                       share(static_cast<double>(time.largest)), share(static_cast<double>(time.sum) / cells), exact_bytes ? "the rest" : "counts") +
           dropped;
}

/// "events in 3 orders".
std::string orders_of(const PhaseData& data) {
    const std::uint64_t unknown = data.sequences->unknown(data.iteration_ns.size());
    return "events in " + plural(data.sequences->sequences.size(), "order") + (unknown == 0 ? "" : ", not known of " + plural(unknown, "iteration"));
}

void append_chart(const ReportContext& context, std::uint32_t phase, const std::vector<RankSums>& sums, std::size_t rank, const PhaseData& data,
                  const std::vector<std::uint32_t>& kind_of_cluster, TextWriter& to) {
    const TextStyle& style = to.style();
    const IterationSeries series = iteration_times(context.locations, phase);
    const bool several = context.values.size() > 1;
    const std::size_t slowest = static_cast<std::size_t>(std::max_element(series.maximum.begin(), series.maximum.end()) - series.maximum.begin());
    const Spread medians = spread_of(series.median);
    const char* legend = style.unicode ? "over ranks: █ up to the lowest, ▓ median, ░ highest" : "over ranks: # up to the lowest, + median, . highest";
    to.heading(fmt::format("Iterations of \"{}\"", printable(context.profile.phases[phase].name)),
               std::string("wall time") + (several ? std::string(" ") + legend : std::string()));
    const ChartColumns chart(series.median.size(), to.width() - chart_axis - 1);
    for (const std::string& line : draw_chart(series, style, chart, chart_height)) to.line(line);

    const std::size_t label = chart_axis - 1;
    std::size_t unknown = 0; // iterations
    if (!data.iteration_ns.empty()) {
        const std::vector<double> share = mpi_share(context, phase, sums, series.median.size());
        unknown = static_cast<std::size_t>(std::count_if(share.begin(), share.end(), [](double value) { return std::isnan(value); }));
        if (std::any_of(share.begin(), share.end(), [](double value) { return value > 0; }))
            to.line(right(style, "MPI share", label) + " " + sparkline(style, share, chart, 1.0));
        to.line(right(style, "kind", label) + " " + cluster_line(data, kind_of_cluster, chart));
    }
    std::string facts =
        fmt::format("median {}; slowest {}: iteration {}", duration(medians.median, style), duration(series.maximum[slowest], style), slowest + 1);
    if (several)
        facts += fmt::format(" on rank {}{}; kind: rank {}", series.slowest[slowest],
                             unknown == series.median.size() ? "" : fmt::format("; MPI share: mean over ranks{}", data.series ? "" : ", estimated"), rank);
    if (unknown != 0)
        facts += fmt::format("; the MPI share of {} is not known, because this profile does not tell what lies inside them",
                             unknown == series.median.size() ? std::string("the iterations") : plural(unknown, "iteration"));
    if (data.series) facts += "; " + accuracy_of(*data.series);
    if (data.sequences) facts += "; " + orders_of(data);
    for (const std::string& line : wrapped(facts, to.width() - chart_axis)) to.line(std::string(chart_axis, ' ') + tinted(style, Tint::Dim, line));
}

/// A difference by the name of what takes the time.
struct NamedDifference {
    std::string name, source;
    double time = 0;
    bool only_here = false;
};

/// The largest ones. Where one name comes twice the lines tell which it is; what these do not tell apart is one.
std::vector<NamedDifference> named_differences(const SpotTable& spots, const std::vector<Difference>& differences, std::size_t most) {
    std::vector<NamedDifference> named;
    for (const Difference& d : differences) {
        const Spot& spot = spots.spots[d.spot];
        NamedDifference next{spot_text(spot), printable(spot.source), d.time, d.only_here};
        const auto same = std::find_if(named.begin(), named.end(), [&](const NamedDifference& n) { return n.name == next.name && n.source == next.source; });
        if (same != named.end()) {
            same->time += next.time;
            same->only_here = same->only_here && next.only_here;
        } else if (named.size() < most) {
            named.push_back(std::move(next));
        }
    }
    std::map<std::string, std::size_t> times;
    for (const NamedDifference& d : named) ++times[d.name];
    for (NamedDifference& d : named)
        if (times[d.name] > 1 && !d.source.empty()) d.name += " (" + d.source + ")";
    return named;
}

/// "+12.1 ms compute_forces", the largest three, then counts that differ.
std::string distinction(const ReportContext& context, const ClusterSummary& summary, const TextStyle& style) {
    std::vector<std::string> words;
    for (const NamedDifference& d : named_differences(context.spots, summary.differences, 3))
        words.push_back(fmt::format("{}{} {}{}", d.time > 0 ? "+" : "", duration(d.time, style), d.name, d.only_here ? " (only here)" : ""));
    if (!summary.metrics.empty()) {
        const MetricDifference& d = summary.metrics.front();
        const MetricRow& row = context.rows[d.row];
        const double ratio = d.typical == 0 ? 0 : d.here / d.typical;
        const std::string amount = d.here == 0      ? "no"
                                   : d.typical == 0 ? "+" + quantity(d.here, row.unit, style)
                                   : ratio < 0.01   ? "hardly any"
                                                    : fmt::format("{}x", ratio < 10 ? fmt::format("{:.2g}", ratio) : count(std::round(ratio)));
        words.push_back(amount + " " + within(printable(row.label)));
    }
    std::string out;
    if (!summary.times.is_one_kind())
        out = fmt::format("not one kind: {} .. {}", duration(summary.times.shortest, style), duration(summary.times.longest, style));
    for (const std::string& word : words) out += (out.empty() ? "" : "; ") + word;
    if (!summary.is_told) return out + (out.empty() ? "" : "; ") + "what differs is not known";
    return out.empty() ? "a typical iteration" : out;
}

void append_clusters(const ReportContext& context, SlowestRank rank, const PhaseData& data, std::size_t stored, std::uint32_t phase,
                     const std::vector<ClusterSummary>& summaries, const std::vector<std::string>& names, TextWriter& to) {
    const TextStyle& style = to.style();
    std::string remark = "kinds of iteration and how they differ from the typical (median) one";
    if (context.values.size() > 1) remark += fmt::format("; rank {}{}", rank.rank, rank.is_known ? ", with most time outside MPI" : "");
    if (std::any_of(summaries.begin(), summaries.end(), [](const ClusterSummary& s) { return !s.is_told; }))
        remark += "; this profile does not tell what lies inside the iterations";
    if (stored > data.clusters.size()) remark += fmt::format("; {} clusters, similar ones joined", stored);
    to.heading(fmt::format("Clusters of \"{}\"", printable(context.profile.phases[phase].name)), remark);
    std::size_t longest = 3;
    for (const std::string& name : names) longest = std::max(longest, name.size());
    to.dim(fmt::format("  {:>{}} {:>16} {:>8}  {:>18}", "", longest, "iterations", "median", "5 to 95 % of them"));
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
        const std::string start = fmt::format("  {:>{}} {} {}  {}  ", names[s.cluster], longest, right(style, size, 16),
                                              right(style, duration(s.times.median, style), 8), right(style, range, 18));
        to.paragraph(distinction(context, s, style), start, std::string(columns(start), ' '));
    }
    if (more != 0)
        to.dim(fmt::format("  {:>{}} {:>16}  in {} smaller clusters", "...", longest, count(static_cast<double>(more)), summaries.size() - clusters_unjoined));
    // Why is said on the first screen.
    if (data.unclustered != 0) to.dim(fmt::format("  {:>{}} {:>16}  in no cluster", "-", longest, count(static_cast<double>(data.unclustered))));
}

} // namespace

void append_iterations(const ReportContext& context, std::uint32_t phase, const KindsOfPhase& kinds, TextWriter& to) {
    const std::vector<RankSums> sums = sums_of_ranks(context, phase);
    const SlowestRank slowest = slowest_rank(sums);
    const std::size_t rank = slowest.rank;
    const PhaseData* data = find_phase(context.locations[rank], phase);
    if (data == nullptr || data->iteration_ns.empty()) return;
    // Dozens of clusters that differ by little are for a program; people want to see the kinds of iteration.
    const bool join = data->clusters.size() > clusters_unjoined;
    const PhaseData shown = join ? join_similar_clusters(*data, clusters_shown) : *data;
    const std::vector<ClusterSummary> summaries = summarize_clusters(context.profile, *context.locations[rank], shown, context.spots);
    const std::vector<std::uint32_t>& kind_of_cluster = kinds.of_cluster[rank];
    append_chart(context, phase, sums, rank, *data, kind_of_cluster, to);
    append_clusters(context, slowest, shown, data->clusters.size(), phase, summaries, shown_names(*data, shown, kind_of_cluster), to);
}

} // namespace libprofile::tools
