// The averages of an earlier run, by which this one's iterations are compared (LIBPROFILE_REFERENCE).
// Contract: find() may be called by any thread with its in-tool flag set, after the session has started; not in signal handlers.
// The file is read once, when the first iterated phase needs it, with a few pages of memory, whatever it holds: bytes are
// checked, a file that changes or ends early is no harm (read, not mapped). What is wrong with it is said in one line per job.
// Source: Szebenyi, Wolf, Wylie (SC 2009), 4.2: averages of an earlier run instead of those that are still moving.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/clustering/condensed_vector.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

/// What an earlier run's iterations were: their number and their sum.
struct EarlierIterations {
    std::uint64_t iterations = 0; // 0: not known
    CondensedVector sums;
};

class EarlierRun {
  public:
    /// The earlier run's folder or its file, as an absolute path that stays where it is. Without it find() finds nothing.
    void choose(const char* path) noexcept { path_ = path; }
    /// Of a phase, by the same rank, else by rank 0; nullptr: there are none. `rank`: the same at every call.
    const EarlierIterations* find(const char* phase, std::uint32_t rank) noexcept;
    /// What is wrong with the file, a part of a sentence, the first time it is asked for; nullptr: nothing, as far as it was read.
    const char* take_complaint() noexcept { return __atomic_exchange_n(&complaint_, nullptr, __ATOMIC_ACQ_REL); }

  private:
    struct Entry {
        Entry* next;
        const char* phase;
        bool is_own; // of the same rank
        EarlierIterations iterations;
    };
    void load(std::uint32_t rank) noexcept;
    unsigned take_averages(int file, std::uint64_t offset, std::uint64_t end, std::uint32_t rank) noexcept;
    bool take_block(int file, std::uint64_t offset, std::uint64_t size, std::uint32_t crc, bool is_own) noexcept;
    const Entry* look_up(const char* phase, bool is_own) const noexcept;

    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    const char* path_ = nullptr;
    bool loaded_ = false;
    const char* complaint_ = nullptr;
    Entry* entries_ = nullptr;
    Arena arena_;
};
/// The one that LIBPROFILE_REFERENCE names.
extern EarlierRun earlier_run;

} // namespace libprofile
