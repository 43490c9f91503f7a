// The condensed vector of an iteration: every measured and derived metric, summed over its call paths.
// Contract: pure; integer sums.
// Source: Szebenyi, Wolf, Wylie (SC 2009), 4.2.
#pragma once

#include "format/metrics.hpp"
#include "libprofile/clustering/iteration_profile.hpp"
#include "libprofile/metrics/accumulator.hpp"

#include <cstdint>

namespace libprofile {

struct CondensedVector {
    std::uint64_t values[condensed_size] = {}; // rows of the catalogue, then counters
};

/// `counter_metrics`: the number of metrics of the chosen counters, including those of regions.
CondensedVector condense(Accumulator& rows, const CallTree& tree, std::size_t counter_metrics) noexcept;
/// The same for the cells taken from rows. There are few of them, while a row has room for every metric.
CondensedVector condense(const IterationProfile& profile, const CallTree& tree, std::size_t counter_metrics) noexcept;
/// Returns true if an MPI call path's or a region's value of this metric was measured in its visits. Samples that hit one, and counters read at
/// samples, are random.
constexpr bool is_exact_in_event(std::size_t metric, std::size_t counter_metrics) {
    return metric != static_cast<std::size_t>(Metric::Samples) && (metric < metric_count || metric >= metric_count + counter_metrics / 2);
}
/// Also stores the event cells in `events`, which has room for all cells, without sampled values.
CondensedVector condense(const IterationProfile& profile, const CallTree& tree, std::size_t counter_metrics, Cell* events, std::uint32_t& event_count) noexcept;

/// The category of a node's time.
TimeCategory category_of(const Node& node) noexcept;

} // namespace libprofile
