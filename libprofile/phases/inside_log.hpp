// Which other phases were entered inside the iterations of a phase, and for how long: their values are kept apart, and only this says to
// which iteration they belong.
// Contract: belongs to one thread; memory from its arena and pool; nothing throws. When memory runs out, later iterations are not known.
#pragma once

#include "libprofile/clustering/byte_chain.hpp"

#include <cstdint>

namespace libprofile {

class InsideLog {
  public:
    /// A phase that is entered inside iterations of another, no third one with iterations between them, as it is now.
    struct Inner {
        std::uint32_t number; // of the phase
        bool has_iterations;
        std::uint64_t count;   // its iterations; for other phases: how often it was entered
        std::uint64_t wall_ns; // exclusive
    };
    /// The phase whose log this is, `self`, is about to open inside an iteration of the phase of `around`. Without memory that stays unknown.
    void enter(const Inner& self, InsideLog& around, Arena& arena) noexcept;
    /// It has ended.
    void leave(const Inner& self) noexcept;
    /// An iteration of the phase whose log this is has ended; of `iterations` it is the last. Without a number it is not counted: then what was
    /// inside it belongs to none.
    void close_iteration(std::uint64_t iterations, bool has_number, Pool& pool) noexcept;

    std::uint64_t records() const { return records_; }
    std::uint64_t bytes() const { return bytes_; } // of whole records
    /// For how many of the phase's iterations it is known.
    std::uint64_t known(std::uint64_t iterations) const { return chain_.failed() && next_ < iterations ? next_ : iterations; }
    bool is_empty() const { return records_ == 0 && !chain_.failed(); }
    template <class Visit> void for_each_piece(Visit visit) const { chain_.for_each_piece(visit); }

  private:
    /// What an inner phase has in the iteration that runs.
    struct Link {
        Inner before = {}; // when it was entered
        Link* next = nullptr;
        std::uint64_t first = 0; // the number of its first iteration there
        std::uint64_t count = 0;
        std::uint64_t wall_ns = 0;
        bool is_scattered = false; // its iterations do not follow each other: others of them lie elsewhere

        bool counts() const { return before.has_iterations ? count != 0 && !is_scattered : wall_ns != 0 || count != 0; }
    };

    /// What was in iteration number `iteration`, of those that had anything inside. Calls put_entries(put), which puts its numbers.
    template <class Put> void add(std::uint64_t iteration, std::uint64_t entries, Pool& pool, Put put_entries) noexcept {
        chain_.put_number(iteration - next_, pool);
        chain_.put_number(entries, pool);
        put_entries([&](std::uint64_t value) { chain_.put_number(value, pool); });
        if (chain_.failed()) return;
        next_ = iteration + 1;
        ++records_;
        bytes_ = chain_.size();
    }

    Link* inner_ = nullptr;      // phases that were entered in the phase's iterations
    Link* entered_in_ = nullptr; // while the phase is open: what it is in the iteration around it
    ByteChain chain_;
    std::uint64_t next_ = 0;
    std::uint64_t records_ = 0;
    std::uint64_t bytes_ = 0;
};

} // namespace libprofile
