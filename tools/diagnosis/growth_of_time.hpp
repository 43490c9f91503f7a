// How much longer all ranks take in the end than at first, by time, and how far that may be a drift.
// Contract: thread-safe (const); allocates in proportion to the iterations; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/suspect.hpp"

#include <cstddef>
#include <vector>

namespace libprofile::tools {

class GrowthOfTime {
  public:
    /// The lower median rank, without what else was found of all ranks.
    GrowthOfTime(const RunModel& model, const std::vector<const Suspect*>& others);

    struct Fit {
        double slope = 0, error = 0; // ns an iteration, at the most; a standard deviation
        double likelihood = 0;       // its logarithm, less that of no slope
        double squares = 0;          // of deviations
    };
    /// @param course of growth_course()
    Fit fit(std::size_t course) const;
    /// Two levels are much nearer to it than any course: it does not grow.
    bool is_step() const;
    /// By how much growth would begin below all that there was: a course may be steeper at its begin than what grows is. ns
    /// @param growth by iteration: ns
    double below_all(const std::vector<double>& growth) const;

  private:
    std::vector<double> part_; // medians of parts of the run, which are less alike than iterations are
};

} // namespace libprofile::tools
