// What lay inside the iterations of a phase: which other phases were entered, and for how long. Without it nobody could tell what of
// those phases belongs to which iteration, since their values are kept apart.
// Contract: belongs to one thread; memory from its pool; nothing throws. When memory runs out, later iterations are not known.
#pragma once

#include "libprofile/clustering/byte_chain.hpp"

#include <cstdint>

namespace libprofile {

struct Phase;

/// A phase that is entered inside iterations of another, no third one with iterations between them: what it has in the one that runs.
struct InsideLink {
    Phase* phase = nullptr;
    InsideLink* next = nullptr;    // of the same iterations
    std::uint64_t first = 0;       // the number of its first iteration there
    std::uint64_t count = 0;       // its iterations; of other phases: how often it was entered
    std::uint64_t wall_ns = 0;     // exclusive
    std::uint64_t wall_before = 0; // of the phase, when it was entered
    std::uint64_t count_before = 0;
    bool is_scattered = false; // its iterations do not follow each other: others of them lie elsewhere
};

class InsideLog {
  public:
    /// What was in iteration number `iteration`, of those that had anything inside. Calls put(entry) for each InsideLink that counts.
    template <class Put> void add(std::uint64_t iteration, std::uint64_t entries, Pool& pool, Put put_entries) noexcept {
        chain_.put_number(iteration - next_, pool);
        chain_.put_number(entries, pool);
        put_entries([&](std::uint64_t value) { chain_.put_number(value, pool); });
        if (chain_.failed()) return;
        next_ = iteration + 1;
        ++records_;
        bytes_ = chain_.size();
    }
    std::uint64_t records() const { return records_; }
    std::uint64_t bytes() const { return bytes_; } // of whole records
    /// Of how many of the phase's iterations it is known.
    std::uint64_t known(std::uint64_t iterations) const { return chain_.failed() && next_ < iterations ? next_ : iterations; }
    bool is_empty() const { return records_ == 0 && !chain_.failed(); }
    template <class Visit> void for_each_piece(Visit visit) const { chain_.for_each_piece(visit); }

  private:
    ByteChain chain_;
    std::uint64_t next_ = 0;
    std::uint64_t records_ = 0;
    std::uint64_t bytes_ = 0;
};

} // namespace libprofile
