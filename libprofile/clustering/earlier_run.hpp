// The averages of an earlier run, by which this run's iterations are normalised (LIBPROFILE_REFERENCE).
// Contract: any thread may call find() with its in-tool flag set, after the session has started; not in signal handlers. The file is read once,
// when the first iterated phase needs it, and takes a few pages of memory, whatever its size. Its bytes are checked. A file that changes or
// ends early does no harm (it is read, not mapped). One line per job says what is wrong with it.
// Source: Szebenyi, Wolf, Wylie (SC 2009), 4.2: averages of an earlier run instead of those that are still moving.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/clustering/condensed_vector.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

/// The number of an earlier run's iterations, and their sum.
struct EarlierIterations {
    std::uint64_t iterations = 0; // 0 if unknown
    CondensedVector sums;
};

class EarlierRun {
  public:
    /// `path`: the earlier run's folder or file, as an absolute path that stays valid. Without it find() finds nothing.
    void choose(const char* path) noexcept { path_ = path; }
    /// The averages of a phase in the same rank, else in rank 0; nullptr if there are none. `rank` must be the same at every call.
    const EarlierIterations* find(const char* phase, std::uint32_t rank) noexcept;
    /// What is wrong with the file, as part of a sentence, at the first call; nullptr if nothing was found wrong.
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
/// The run that LIBPROFILE_REFERENCE names.
extern EarlierRun earlier_run;

} // namespace libprofile
