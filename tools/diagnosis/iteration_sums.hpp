// Sums over some iterations of some ranks: times by function and call, messages, bytes, and the samples behind them.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/sample_strata.hpp"
#include "tools/diagnosis/iteration_matrix.hpp"
#include "tools/diagnosis/named_spots.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace libprofile::tools {

using Ranges = std::vector<IterationRange>;

struct IterationSums {
    double iterations = 0;
    std::vector<double> spot_ns;
    std::map<std::uint32_t, double> path_ns;
    std::vector<double> node_ns;          // outside MPI, by node of the tree
    std::vector<SampledParts> sampled_at; // by node
    SampledStrata strata;
    double io = 0, calls = 0, bytes = 0, received = 0;
    double instructions = 0;                   // if they were counted
    double parts[5] = {};                      // computing, off CPU, file I/O, threads, other MPI
    std::map<std::uint32_t, double> as_source; // by spot

    double mean(std::uint32_t spot) const { return iterations == 0 ? 0 : spot_ns[spot] / iterations; }
    double local() const { return per_iteration(parts[0] + parts[1] + parts[2] + parts[3]); } // what ranks do themselves
    double per_iteration(double sum) const { return iterations == 0 ? 0 : sum / iterations; }
};

bool is_mpi(TimeCategory category);  // files, too
bool is_file(TimeCategory category); // of MPI

class Summer {
  public:
    Summer(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names);

    IterationSums empty() const;
    /// @param row of the matrix
    /// @param ranges of iterations of the phase, in order
    void add(IterationSums& to, std::size_t row, const Ranges& ranges) const;

  private:
    void add_samples(IterationSums& to, const SampledSelection& selection) const;
    void add_cell(IterationSums& to, std::uint32_t path, std::uint32_t metric, double value) const;

    const Profile& profile_;
    const IterationMatrix& matrix_;
    const NamedSpots& names_;
    std::size_t instructions_; // position in Profile::metrics; 0: not counted
};

/// The larger half of the 95 % interval of a sum of parts; ns an iteration.
double error_of(const IterationSums& sums, const SampledParts& parts);

} // namespace libprofile::tools
