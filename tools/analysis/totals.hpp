// Totals of all metrics, direct and derived, from the stored integers.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A row of the metric tree: those of the catalogue, then metrics of the file that the catalogue does not know.
struct MetricRow {
    std::string name;  // stable key
    std::string unit;  // "ns", "count", "bytes" or that of a counter
    std::string label; // as in Table 1 of Szebenyi, Wolf, Wylie (SC 2009)
    std::string description;
    int parent = -1; // index of the parent row
    int depth = 0;
};

/// Rows in display order; the index of a row is the index of its value in MetricValues.
std::vector<MetricRow> metric_rows(const Profile& profile);

/// One value per metric row.
using MetricValues = std::vector<std::uint64_t>;

/// Sums cells over call paths and derives the catalogue from them.
MetricValues condense(const Profile& profile, const std::vector<Cell>& cells);

/// All cells of a phase (clusters and rest).
MetricValues totals(const Profile& profile, const PhaseData& data);

/// All phases of a location.
MetricValues totals(const Profile& profile, const Location& location);

/// Adds `more` to `sum`, row by row.
void add(MetricValues& sum, const MetricValues& more);

/// ns: own code on the processor; what is left of the time without MPI, OpenMP's runtime, waiting for a processor, and the measurement.
std::uint64_t computing_of(const MetricValues& values);

/// The location of the main thread of every rank, in rank order; null where a rank has no data.
std::vector<const Location*> main_threads(const Profile& profile);

/// The locations of all other threads, by rank, then thread.
std::vector<const Location*> worker_threads(const Profile& profile);

/// The data of a phase at a location, or null.
const PhaseData* find_phase(const Location* location, std::uint32_t phase);

/// Minimum, median, maximum and sum of a series; the median of an even number is the mean of the middle two.
struct Spread {
    double minimum = 0;
    double median = 0;
    double maximum = 0;
    double sum = 0;
};
Spread spread_of(std::vector<double> values);

} // namespace libprofile::tools
