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
    std::uint64_t values[condensed_size] = {}; // rows of the catalogue, counters
};

/// `counter_metrics`: how many metrics the chosen counters are, those of regions included.
CondensedVector condense(Accumulator& rows, const CallTree& tree, std::size_t counter_metrics) noexcept;
/// The same of the cells that were taken from rows: they are few, while a row has room for every metric.
CondensedVector condense(const IterationProfile& profile, const CallTree& tree, std::size_t counter_metrics) noexcept;
/// Whether what an MPI call path or a region has of a metric was measured in its visits: samples that met one, and what counters had come to
/// by then, are chance.
constexpr bool is_exact_in_event(std::size_t metric, std::size_t counter_metrics) {
    return metric != static_cast<std::size_t>(Metric::Samples) && (metric < metric_count || metric >= metric_count + counter_metrics / 2);
}
/// And its event cells, those of MPI call paths but for what was sampled there, to `events`, which has room for all cells. Returns how many.
std::uint32_t condense(const IterationProfile& profile, const CallTree& tree, std::size_t counter_metrics, CondensedVector& condensed, Cell* events) noexcept;

/// What the time of a node is booked under.
TimeCategory category_of(const Node& node) noexcept;

} // namespace libprofile
