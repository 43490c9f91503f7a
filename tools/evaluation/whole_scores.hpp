// How far the iteration graphs of a reconstruction are from the recorded ones: whole-iteration values, mean and maximum
// over locations.
// Contract: a plain value, used by one thread; allocates two numbers per iteration and metric.
// Source: Szebenyi, Wolf, Wylie (SC 2009), 5.3, "Error rates for entire iterations", Fig. 4.
#pragma once

#include "format/metrics.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

/// Mean over iterations of |reconstructed - original|, as a share of the metric's average over iterations and locations.
struct GraphError {
    double of_mean = 0;    // of the mean over locations
    double of_maximum = 0; // of the maximum over locations
};

struct MetricGraphError {
    std::size_t row = 0; // of metric_catalogue
    GraphError error;
};

struct WholeErrors {
    std::vector<MetricGraphError> metrics; // those that are not all zero, without timer samples, whose number is random
    GraphError time;                       // average over the time-based ones
    GraphError count;                      // over the others
};

class WholeScores {
  public:
    explicit WholeScores(std::size_t iterations) : sums_(iterations), entered_(iterations) {}

    /// Values of one iteration of one location: catalogue_size each.
    void add(std::size_t iteration, std::span<const std::uint64_t> original, std::span<const double> reconstructed);
    WholeErrors result() const;

  private:
    struct Values {
        double original_sum[catalogue_size] = {};
        double original_maximum[catalogue_size] = {};
        double sum[catalogue_size] = {};
        double maximum[catalogue_size] = {};
    };
    std::vector<Values> sums_;           // by iteration, over locations
    std::vector<std::uint32_t> entered_; // locations that have the iteration
};

} // namespace libprofile::tools
