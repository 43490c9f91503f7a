// The values of one metric for every rank and iteration of a phase: what a value map shows.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
//
// The numbers are whole (ns, bytes, counts). For a picture each becomes one of up to 255 levels; the page learns the value of
// each level, so it can say how coarse a colour is.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/encoding.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

inline constexpr std::uint64_t no_value = ~std::uint64_t{0};

/// A metric of whole iterations. The first two are none of the catalogue: they are what people look for first. Region: the time of one
/// named region.
struct MapMetric {
    enum Kind { IterationTime, Computation, Row, Region };
    Kind kind = Row;
    std::size_t row = 0; // of metric_rows, for Row
    std::string name;
    std::string label;
    std::string unit;
    std::string description;
    std::vector<bool> paths = {}; // for Region: which call paths are it
};

/// Values by rank, then iteration; no_value where there is none.
struct MapValues {
    MapMetric metric;
    bool exact = true;   // otherwise some are means of clusters
    bool is_told = true; // otherwise iterations without a value have one, but the profile does not tell what lies inside them
    std::vector<std::uint64_t> values;
};

/// The metrics that are not zero everywhere in a phase, those that people look for first in front, and the named regions with most time
/// in it, up to most_map_regions.
inline constexpr std::size_t most_map_regions = 12;
std::vector<MapMetric> map_metrics(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase);

/// Reads the values of several metrics in one pass over the series.
/// @param locations a row each; null without data
std::vector<MapValues> map_values(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase, std::size_t iterations,
                                  const std::vector<MapMetric>& metrics);

/// Values as levels. Level 0 means no value; level l > 0 stands for values from `bounds[l - 1]` up to (excluding) `bounds[l]`.
struct QuantizedMap {
    std::vector<double> bounds; // one more than there are levels in use
    ByteList deltas;            // per rank: level minus the level of the iteration before, modulo 256; deflated
};

/// Fine steps about the median, coarse ones far away (inverse hyperbolic sine), so that one extreme iteration does not make
/// all the others look alike.
/// @param most_bytes after compression; fewer levels are tried until it fits (at least 15 levels)
QuantizedMap quantize(const std::vector<std::uint64_t>& values, std::size_t iterations, std::size_t most_bytes);

/// Over the ranks that have a value, per iteration.
struct MapSpread {
    NumberColumn minimum; // each column: differences to the iteration before, zigzag
    NumberColumn twice_median;
    NumberColumn maximum;
    NumberColumn sum;
    NumberColumn slowest; // rank with the maximum
    NumberColumn ranks;   // with a value
};
MapSpread spread_over_ranks(const std::vector<std::uint64_t>& values, std::size_t iterations);

} // namespace libprofile::tools
