// How far the cells of a reconstruction are from the recorded ones, and which call paths it invents.
// Contract: plain values, used by one thread; add() allocates nothing that lasts.
// Source: Szebenyi, Wolf, Wylie (SC 2009), 5.3: Fig. 3 (phantom call paths), Fig. 5 (errors of call paths), Fig. 6 (shares
// by order of magnitude). Event cells and sampled cells are scored separately: which path a timer hits is random.
#pragma once

#include "tools/evaluation/recording.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Buckets of errors: exactly 0, then by order of magnitude.
inline constexpr std::array<const char*, 8> error_buckets = {"0", "<0.0001 %", "<0.001 %", "<0.01 %", "<0.1 %", "<1 %", "<10 %", ">=10 %"};

/// Of cells that are not zero in the original; an error is |reconstructed - original| / the largest value of the metric in all
/// call paths and iterations of the location: of event cells, for them, since that is what LIBPROFILE_ERROR is a share of.
struct CellError {
    std::uint64_t cells = 0;
    double sum = 0;
    double largest = 0;
    std::array<std::uint64_t, error_buckets.size()> histogram = {};

    void add(double error);
    double mean() const { return cells == 0 ? 0 : sum / static_cast<double>(cells); }
    /// The cells in the bucket.
    double share(std::size_t bucket) const;
};

struct CellErrors {
    CellError event_time, event_count, sampled_time, sampled_count; // count: everything but time
};

/// Pairs of an iteration and a call path that the reconstruction has; phantoms were not visited in that iteration.
struct Phantoms {
    std::uint64_t pairs = 0;
    std::uint64_t phantoms = 0;
    std::uint64_t mpi_pairs = 0;
    std::uint64_t mpi_phantoms = 0;

    double share() const { return pairs == 0 ? 0 : static_cast<double>(phantoms) / static_cast<double>(pairs); }
    double mpi_share() const { return mpi_pairs == 0 ? 0 : static_cast<double>(mpi_phantoms) / static_cast<double>(mpi_pairs); }
};

/// Key and value, sorted by key.
using ReconstructedCells = std::vector<std::pair<std::uint32_t, double>>;

void count_phantoms(const PathKinds& paths, const RecordedIteration& original, const ReconstructedCells& cells, Phantoms& sum);

/// The scores of one location.
class CellScores {
  public:
    CellScores(const PathKinds& paths, const RecordedLocation& location);

    void add(const RecordedIteration& original, const ReconstructedCells& cells, CellErrors& sum) const;

  private:
    const PathKinds* paths_;
    std::array<double, 1u << libprofile::Cell::metric_bits> largest_ = {}; // by metric
    std::array<double, 1u << libprofile::Cell::metric_bits> largest_event_ = {};
};

} // namespace libprofile::tools
