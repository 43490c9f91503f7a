// How much of a function's time grows over a run, by samples that are shared by many iterations.
// Contract: the constructor starts threads and waits for them, and reads at most 64 ranks; const access is thread-safe; throws std::bad_alloc only.
//
// Without a trace no sample is of one iteration, but pools of clusters have their iterations in other parts of the run. With one, parts of the run are
// pools, where these tell more. A function's share in a pool is a constant, and more by what the pool's iterations have of the growth on average: weighted
// least squares over the pools of all ranks, each rank around its own mean.
// What was found before is in the equation, too.
#pragma once

#include "tools/diagnosis/growth_course.hpp"
#include "tools/diagnosis/named_spots.hpp"
#include "tools/diagnosis/pooled_samples.hpp"
#include "tools/diagnosis/suspect.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

class GrowthOfSamples {
  public:
    struct Fit {
        std::uint32_t node = 0;      // of the tree: the function with all that it calls
        double slope = 0, error = 0; // ns an iteration, at the most, beyond the function's share; a standard deviation
        double share = 0;            // of the function, without the growth
        double certain() const { return error <= 0 ? 0 : slope / error; }
    };

    /// @param others suspects of the same iterations
    GrowthOfSamples(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names, const std::vector<const Suspect*>& others);

    /// The function that tells most for a course.
    Fit best(std::size_t course) const;
    Fit of(std::uint32_t node, std::size_t course) const;
    /// That have some time.
    std::size_t functions() const;

  private:
    using Courses = std::array<double, growth_courses>;
    /// The iterations of a rank that share their samples.
    struct Pool {
        double samples = 0, ns = 0;
        Courses x{};      // sums, then of one ns, from the rank's mean
        double other = 0; // excess of other suspects, likewise
    };
    struct Rank {
        SampledSelection selection;
        std::vector<Pool> pools;
        Courses mean{};
        /// What its samples tell of a line.
        double tells() const;
    };
    /// Sums of weighted products.
    struct Products {
        double share = 0, other = 0;
        Courses x{};
        void add(const Products& more);
    };

    Rank read(const Profile& profile, const IterationMatrix& matrix, std::size_t row, const std::vector<const Suspect*>& others) const;
    Rank in_pools(PooledSamples pooled, const std::vector<float>& other) const;
    void sum_up();
    /// How much more the pools are scattered about the course than samples are by chance: 1 if they are not.
    double scatter(const Fit& fit, std::size_t course) const;

    const NamedSpots& names_;
    const std::size_t iterations_;
    std::vector<Courses> course_; // by iteration
    std::vector<Rank> ranks_;
    std::vector<Products> products_; // by node
    Products all_;
    Courses xx_{}, x_other_{}, mean_x_{};
    double other_other_ = 0;
};

} // namespace libprofile::tools
