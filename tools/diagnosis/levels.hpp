// Where a series changes its level: parts of about equal values, whatever single values do.
// Contract: thread-safe (no state); allocates in proportion to the series; throws std::bad_alloc only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace libprofile::tools {

/// A part of a series, both ends included.
struct Level {
    std::size_t first = 0;
    std::size_t last = 0;
    double mean = 0; // of the smoothed values
    std::size_t length() const { return last - first + 1; }
};

/// The value that `share` of the values, 0 to 1, lie below; of two in the middle the lower one. There must be some.
template <class Number> Number quantile(std::vector<Number> values, double share) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

/// The series without single values that stick out: running median over `width` values, an odd number; at the ends of fewer.
/// Source: J. W. Tukey, "Exploratory Data Analysis" (1977), chapter 7.
std::vector<double> running_median(std::span<const float> values, std::size_t width);

/// 1.4826 times the median absolute deviation from the median: the standard deviation of a normal distribution.
double robust_deviation(std::vector<double> values);

/// Change points by binary segmentation: the cut that separates means best is made while it is significant, then in both parts.
/// Source: A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of variance", Biometrics 30 (1974).
/// @param smooth of running_median(); noise that lasts as long as its width does not cut
/// @param least_step changes below it are none
std::vector<Level> levels_of(const std::vector<double>& smooth, std::size_t width, double least_step);

} // namespace libprofile::tools
