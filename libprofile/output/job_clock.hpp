// The clock of this rank, and how it relates to those of other machines, which is measured when the job ends.
// Contract: as for finalize.hpp.
#pragma once

#include "libprofile/output/clock_exchange.hpp"
#include "libprofile/output/polled_collectives.hpp"
#include "libprofile/output/written_locations.hpp"

namespace libprofile {

class BlockBuffer;

class JobClock {
  public:
    JobClock() noexcept;
    /// What is to be compared between all ranks: the minimum of the first is the lowest id, that of the second what the highest lacks to `most`.
    std::uint64_t (&compared())[2] { return compared_; }
    /// All ranks, with the minima in compared(). No message if all have one clock. Returns false if an operation failed.
    bool relate(PolledCollectives& job) noexcept;
    /// Writes the Clock block. Returns false if memory for it is short.
    bool write(BlockBuffer& buffer, RunningThread running) const noexcept;

  private:
    static constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;
    std::uint64_t id_;
    std::uint64_t compared_[2];
    ClockRelation relation_;
};

} // namespace libprofile
