// How two series of numbers go together.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc. Series are of equal length; pairs with a NaN are left out.
#pragma once

#include <cstdint>
#include <span>

namespace libprofile::tools {

/// Pearson's coefficient; NaN if one side is constant or there are fewer than two pairs.
double pearson(std::span<const double> x, std::span<const double> y);

/// Spearman's: Pearson's of the ranks, equal values with their mean rank.
double spearman(std::span<const double> x, std::span<const double> y);

/// Kendall's tau-b in n log n. Source: W. R. Knight, JASA 61 (1966).
double kendall(std::span<const double> x, std::span<const double> y);

/// The straight line of least squares, y = slope x + intercept.
struct FittedLine {
    double slope = 0, intercept = 0;
    double slope_error = 0; // its standard error, by what the line leaves over; NaN with fewer than 3
};
FittedLine regression(std::span<const double> x, std::span<const double> y);

} // namespace libprofile::tools
