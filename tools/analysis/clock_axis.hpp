// One axis of time for the ranks of a job. Each rank's times count from its own start, on its own clock (format/clock.hpp).
// Contract: constant after construction and then thread-safe; allocates in proportion to the ranks; throws std::bad_alloc only.
//
// Ranks of one machine have one monotonic clock. Of several machines those are on the axis whose clocks were compared at the end of the run; if none
// were, as of a killed job, those of the lowest rank's machine. The axis begins when the first rank on it did.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace libprofile::tools {

class ClockAxis {
  public:
    struct RankClock {
        bool is_common = false;           // its times can be compared with those of other such ranks
        std::uint64_t begin_ns = 0;       // when the rank's clock began; 0 if it is not on the axis
        std::uint64_t own_ns = 0;         // so long on its own clock is
        std::uint64_t monotonic_ns = 0;   // so long on the axis; both 0: the same
        std::uint64_t uncertainty_ns = 0; // either way, when the clocks were compared

        double place(double own) const {
            const double scale = own_ns == 0 ? 1 : static_cast<double>(monotonic_ns) / static_cast<double>(own_ns);
            return static_cast<double>(begin_ns) + own * scale;
        }
    };

    explicit ClockAxis(const Profile& profile);

    const RankClock& clock(std::uint32_t rank) const;
    bool has(std::uint32_t rank) const { return clock(rank).is_common; }
    /// A time of the rank on the axis; if it is not there, since its own start.
    std::uint64_t at(std::uint32_t rank, std::uint64_t own_ns) const;
    /// What limits comparisons, for those who see the axis: clauses, none if it is exact.
    std::vector<std::string> limits() const;

  private:
    std::map<std::uint32_t, RankClock> clocks_;
};

} // namespace libprofile::tools
