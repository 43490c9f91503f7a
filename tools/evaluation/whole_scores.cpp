#include "tools/evaluation/whole_scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace libprofile::tools {

namespace {

/// The average of some metrics' errors.
class Average {
  public:
    void add(const GraphError& error) {
        sum_.of_mean += error.of_mean;
        sum_.of_maximum += error.of_maximum;
        ++count_;
    }
    GraphError result() const { return count_ == 0 ? GraphError{} : GraphError{sum_.of_mean / count_, sum_.of_maximum / count_}; }

  private:
    GraphError sum_;
    int count_ = 0;
};

} // namespace

void WholeScores::add(std::size_t iteration, std::span<const std::uint64_t> original, std::span<const double> reconstructed) {
    Values& values = sums_.at(iteration);
    ++entered_[iteration];
    for (std::size_t m = 0; m < catalogue_size; ++m) {
        const auto exact = static_cast<double>(original[m]);
        values.original_sum[m] += exact;
        values.original_maximum[m] = std::max(values.original_maximum[m], exact);
        values.sum[m] += reconstructed[m];
        values.maximum[m] = std::max(values.maximum[m], reconstructed[m]);
    }
}

WholeErrors WholeScores::result() const {
    WholeErrors errors;
    Average time, count;
    for (std::size_t m = 0; m < catalogue_size; ++m) {
        if (metric_catalogue[m].id == CatalogueId::Samples) continue;
        double average = 0;
        std::size_t iterations = 0;
        GraphError error;
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            if (entered_[i] == 0) continue;
            const Values& v = sums_[i];
            ++iterations;
            average += v.original_sum[m] / entered_[i];
            error.of_mean += std::fabs(v.sum[m] - v.original_sum[m]) / entered_[i];
            error.of_maximum += std::fabs(v.maximum[m] - v.original_maximum[m]);
        }
        if (iterations == 0 || average == 0) continue;
        // Both the error and the average are sums over the same iterations, so their number cancels.
        error.of_mean /= average;
        error.of_maximum /= average;
        errors.metrics.push_back({m, error});
        (std::strcmp(metric_catalogue[m].unit, "ns") == 0 ? time : count).add(error);
    }
    errors.time = time.result();
    errors.count = count.result();
    return errors;
}

} // namespace libprofile::tools
