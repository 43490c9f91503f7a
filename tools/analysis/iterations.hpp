// The iterations of a phase over time, and what tells its clusters apart.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Minimum, median and maximum over ranks, per iteration.
struct IterationSeries {
    std::vector<double> minimum;
    std::vector<double> median;
    std::vector<double> maximum;
    std::vector<std::uint32_t> slowest; // index of the location with the maximum
};

/// Iteration wall times (inclusive, exact) over the locations that have the iteration.
IterationSeries iteration_times(const std::vector<const Location*>& locations, std::uint32_t phase);

/// The values of a metric (row of metric_rows) over the iterations of one location: exact where the profile has the
/// iteration's own values, else estimated by the mean of its cluster; iterations in the rest get the mean of the rest. Sums of
/// estimates may differ from the totals by rounding. Source: Szebenyi, Wolf, Wylie (SC 2009), section 4: a cluster stands for its iterations.
std::vector<double> reconstructed_series(const Profile& profile, const PhaseData& data, std::size_t metric_row);

/// How long some iterations take: exact wall times in ns, phases inside included.
struct TimeSpread {
    double shortest = 0;
    double low = 0; // 5 % take less
    double median = 0;
    double high = 0; // 5 % take more
    double longest = 0;
    /// Iterations are not of one kind if one takes ten times as long as another, whatever they have in common.
    bool is_one_kind() const { return longest < 10 * shortest || longest == 0; }
};
TimeSpread time_spread(std::vector<double> times);

/// A phase with at most `most` clusters where that is possible: similar ones are joined, never over the border of an
/// equivalence class, and none of which an iteration takes over three times as long as of the other. Similar means close in the
/// logarithm of the mean time of an iteration, since kinds differ in ratios; always the two neighbours are joined that
/// add least to the sum of squared deviations. Source: Ward, J. Am. Stat. Assoc. 58 (1963), in one dimension.
/// For display; the cells of a joined cluster are those of its parts, one after the other.
PhaseData join_similar_clusters(const PhaseData& data, std::size_t most);

/// How the mean iteration of a cluster differs from the typical one of the phase: the median over iterations, each
/// standing for the mean of its cluster. Not from the mean: one expensive iteration in a hundred would then make all
/// the others look unusual.
struct Difference {
    std::uint32_t spot = 0; // index into SpotTable::spots
    double time = 0;        // ns per iteration, cluster minus typical
    bool only_here = false; // visited in no other iteration of the phase
};
struct MetricDifference {
    std::size_t row = 0; // of metric_rows
    double here = 0;     // per iteration
    double typical = 0;
};
struct ClusterSummary {
    std::size_t cluster = 0; // index into PhaseData::clusters
    std::uint64_t size = 0;
    double mean_time = 0;                  // ns per iteration, inclusive, exact
    TimeSpread times;                      // of its iterations
    std::vector<Difference> differences;   // largest first; those above 3 % of the typical iteration
    std::vector<MetricDifference> metrics; // counts and bytes that differ by more than a fifth, most different first
    bool is_told = true;                   // false if the profile does not tell what lies inside iterations of the phase: what differs is unknown
};

/// The clusters of one location's phase, largest first; with what lies inside their iterations.
std::vector<ClusterSummary> summarize_clusters(const Profile& profile, const Location& location, const PhaseData& data, const SpotTable& table);

} // namespace libprofile::tools
