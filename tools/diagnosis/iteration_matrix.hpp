// What every rank did in every iteration of a phase, in a few numbers each: the table that all detectors read.
// Contract: plain data; const access is thread-safe; allocates 12 bytes per rank and iteration; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Times are in ns, exclude each other, and contain the phases inside the iteration.
enum class IterationPart : std::uint8_t {
    Local, // what the rank does itself, as opposed to what it waits for or communicates: computing, OpenMP, MPI files, own work in MPI, and without a
           // processor
    Mpi,   // all other MPI
    CollectiveCalls,
    Count
};

class IterationMatrix {
  public:
    IterationMatrix(std::size_t ranks, std::size_t iterations)
        : iterations_(iterations), values_(static_cast<std::size_t>(IterationPart::Count) * ranks * iterations), locations(ranks) {}

    std::size_t ranks() const { return locations.size(); }
    std::size_t iterations() const { return iterations_; }
    float& at(IterationPart part, std::size_t rank, std::size_t iteration) { return values_[place(part, rank) + iteration]; }
    float at(IterationPart part, std::size_t rank, std::size_t iteration) const { return values_[place(part, rank) + iteration]; }
    double local(std::size_t rank, std::size_t iteration) const { return at(IterationPart::Local, rank, iteration); }

  private:
    std::size_t place(IterationPart part, std::size_t rank) const { return (static_cast<std::size_t>(part) * locations.size() + rank) * iterations_; }

    std::size_t iterations_;
    std::vector<float> values_; // by part, rank, iteration

  public:
    std::vector<const Location*> locations; // by row; may be null in tests
    std::uint32_t phase = 0;                // that the iterations are of
    std::uint64_t first = 0;                // the number of the first iteration, from 0
    bool is_whole_run = false;              // no iterations: one column with all phases
    bool is_estimated = false;              // some iterations have the mean of their cluster
    std::uint64_t fewest = 0, most = 0;     // iterations of a rank; only those that all have are in the matrix
};

/// @param locations main threads (null for a rank without data); those that made no iteration are left out
IterationMatrix iteration_matrix(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase, IterationRange range = {});

/// For a profile without iterations: each rank's whole run as one.
IterationMatrix whole_run_matrix(const Profile& profile, const std::vector<const Location*>& locations);

} // namespace libprofile::tools
