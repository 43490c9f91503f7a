// The values of iterations with the phases inside them, which a phase's own values leave out, since time belongs to the
// innermost phase.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
//
// The profile tells which iterations of an inner phase an iteration contains, and how much time of a phase without iterations. For the
// former the values are as good as those of any iteration; the latter has one profile for the whole run, of which an iteration gets its
// part: times by its time in the phase, counts by how often it entered it.
#pragma once

#include "tools/analysis/sample_strata.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/analysis/totals.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

// Where the profile does not tell what lay inside iterations (of killed jobs, earlier builds) their time alone is known, and no other
// metric. `untold` is that time, in ns; reports show other metrics as "not known" where it is not 0.
struct WithInside {
    /// By range or group, in no order; a call path may come several times. Path 0 has the untold time, too.
    std::vector<std::vector<SelectedCell>> cells;
    std::vector<std::uint64_t> untold;          // by range or group
    bool is_scaled = false;                     // phases without iterations are part of it: then only sums of times are exact
    std::vector<SampledSelection> sampled = {}; // of all ranges, by phase; without what is scaled
};

/// For each range the cells of its iterations and of what lies inside them.
/// @param ranges in ascending order, without overlap; parts after the last iteration count as nothing
/// @param with_samples fills in WithInside::sampled
WithInside cells_with_inside(const Profile& profile, const Location& location, const PhaseData& data, std::span<const IterationRange> ranges,
                             bool with_samples = false);

/// The same for groups of ranges, each of which is one selection.
/// @param group_of by range, below `groups`
WithInside cells_with_inside(const Profile& profile, const Location& location, const PhaseData& data, std::span<const IterationRange> ranges,
                             const std::vector<std::size_t>& group_of, std::size_t groups, bool with_samples);

/// The cells of what lies inside the iterations of each cluster, and, as the last one, of those in no cluster; without the phase's own.
WithInside inside_of_clusters(const Profile& profile, const Location& location, const PhaseData& data);

/// The values of metric_rows of what lies inside each iteration.
struct RowsInside {
    std::vector<MetricValues> rows;    // by iteration; empty if nothing lies inside
    std::vector<std::uint64_t> untold; // by iteration, as many as `rows`
    bool is_exact = true;              // what is told
    bool is_told(std::size_t iteration) const { return untold.empty() || untold[iteration] == 0; }
};
RowsInside rows_inside(const Profile& profile, const Location& location, const PhaseData& data);

/// The phases that lie inside iterations of this one, at any depth.
std::vector<const PhaseData*> phases_inside(const Location& location, const PhaseData& data);

} // namespace libprofile::tools
