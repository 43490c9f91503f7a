// How long a run takes, told from what each rank does itself in each iteration; and how much shorter it would be without some of it.
// Contract: a RunModel belongs to one thread, const access is thread-safe; allocates 4 bytes per rank and iteration; throws std::bad_alloc only.
//
// Where ranks meet in every iteration, an iteration takes as long as its slowest rank, and the others wait. Where they never meet, the run takes
// as long as the slowest rank's sum. A run is somewhere between.
#pragma once

#include "tools/diagnosis/iteration_matrix.hpp"

#include <vector>

namespace libprofile::tools {

/// A part of one rank's local time, by iteration; negative values: time that it would get more.
struct RankExcess {
    std::size_t rank = 0; // row of the matrix
    std::vector<float> ns;
};

struct Gain {
    double value = 0; // ns of the run
    double low = 0;
    double high = 0;
};

/// All ranks are in a collective call in nearly all iterations, so none gets ahead.
bool ranks_meet(const IterationMatrix& matrix);

class RunModel {
  public:
    explicit RunModel(const IterationMatrix& matrix);

    std::size_t ranks() const { return ranks_; }
    std::size_t iterations() const { return iterations_; }
    float local(std::size_t rank, std::size_t iteration) const { return local_[rank * iterations_ + iteration]; }
    /// The lower median over ranks, by iteration: of two ranks the faster one.
    const std::vector<float>& base() const { return base_; }
    double typical() const { return typical_; } // ns: median of base()
    /// How much a rank's local time changes from one iteration to the next without a reason: ns, as a standard deviation.
    double jitter() const { return jitter_; }
    bool meets_always() const { return meets_always_; }

    /// What the run would gain without these parts: value is what the ranks' meeting says, low and high are both extremes.
    Gain gain_without(const std::vector<RankExcess>& parts) const;
    /// Takes parts away for good, so that what is left can be looked at.
    void remove(const std::vector<RankExcess>& parts);

  private:
    void find_base();
    void find_jitter();
    float& cell(std::size_t rank, std::size_t iteration) { return local_[rank * iterations_ + iteration]; }

    std::size_t ranks_;
    std::size_t iterations_;
    std::vector<float> local_;
    std::vector<float> base_;
    double typical_ = 0;
    double jitter_ = 0;
    bool meets_always_ = false;
};

} // namespace libprofile::tools
