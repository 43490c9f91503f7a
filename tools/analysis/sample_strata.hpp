// The samples that the computing time of a selection was shared out by, and the errors that follow from their number.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. As deterministic as its input.
//
// A stratum is what was selected of a pool of samples (sample_pools.hpp): its computing time, which is exact, and the number of samples that
// speak for it. Where only some of the pool's iterations are selected, their mix of functions may be another one. An iteration that takes longer
// than the pool's mean has more of something, and nobody knows of what. So the variance of a share p gets, besides p(1-p)/samples, p(1-p) times
// the square of the time that is known to differ from the mean (docs/sampling-error.md).
#pragma once

#include "tools/analysis/selection.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct SampleStratum {
    double ns = 0;      // computing time
    double squares = 0; // of times: ns * ns / samples, for the number of independent samples that would be as exact

    double samples() const { return squares == 0 ? 0 : ns * ns / squares; }
};

/// Parts of a selection by stratum, sorted; ns.
using SampledParts = std::vector<std::pair<std::uint32_t, double>>;
void add_part(SampledParts& parts, std::uint32_t stratum, double ns);
void add_parts(SampledParts& parts, const SampledParts& more);

/// What is selected of one phase of a location.
struct SampledSelection {
    struct Part {
        std::uint32_t path = 0;
        std::uint32_t stratum = 0;
        double ns = 0;
    };
    std::vector<SampleStratum> strata;
    std::vector<Part> parts; // what the samples hit, by stratum, then path
};

/// All of a phase.
SampledSelection sampled_selection(const Profile& profile, const PhaseData& data);
/// The iterations in some ranges, in ascending order and without overlap. Reads the series around them.
SampledSelection sampled_selection(const Profile& profile, const PhaseData& data, std::span<const IterationRange> ranges);

/// By how much the iterations of a phase differ.
struct IterationTimes {
    std::vector<double> ns; // by iteration: computing time; where it is not known the mean of its pool
    bool is_wall = false;   // wall time instead: the values of single iterations were not kept
};
/// For the page, which makes the selection of a range itself if nobody serves it. Reads the whole series.
IterationTimes compared_times(const Profile& profile, const PhaseData& data);
/// So many iterations before the first and after the last selected one tell how much they vary.
inline constexpr std::uint64_t iterations_around = 200;

/// The strata of several phases and locations. Beyond `most_strata` some are taken together, which never makes an error smaller.
class SampledStrata {
  public:
    static constexpr std::uint32_t most_strata = 256;

    /// Calls give(path, stratum, ns) for each part.
    template <class Give> void add(const SampledSelection& selection, Give give) {
        const std::uint32_t first = next_;
        for (const SampleStratum& stratum : selection.strata) {
            const std::uint32_t at = next_++ % most_strata;
            if (at == list_.size()) list_.emplace_back();
            list_[at].ns += stratum.ns;
            list_[at].squares += stratum.squares;
        }
        for (const SampledSelection::Part& part : selection.parts) give(part.path, (first + part.stratum) % most_strata, part.ns);
    }
    const std::vector<SampleStratum>& list() const { return list_; }

  private:
    std::vector<SampleStratum> list_;
    std::uint32_t next_ = 0;
};

/// The larger half of the 95 % interval of a sum of parts, in ns. Zero for the whole, which is exact.
double sampling_error(const SampledParts& parts, const std::vector<SampleStratum>& all);

/// The same of the difference of two sums that have no call path in common. A sample that hits one does not hit the other.
double error_of_difference(const SampledParts& a, const SampledParts& b, const std::vector<SampleStratum>& all);

} // namespace libprofile::tools
