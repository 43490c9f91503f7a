// The phases that the main thread has begun and ended. Its OpenMP workers read them and follow, each at its next event.
// Contract: written by the main thread, with its in-tool flag set; read by any. Async-signal-safe, never allocates. The last
// `kept` changes can be read; a later reader has missed some.
#pragma once

#include "format/profile_file.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct PhaseChange {
    std::uint64_t at = 0;       // ns
    const char* name = nullptr; // of the main thread's phase, which stays
    PhaseKind kind = PhaseKind::Outside;
    bool begins = false;
};

class PhaseLog {
  public:
    static constexpr std::uint64_t kept = 1024;

    void add(const PhaseChange& change) noexcept {
        const std::uint64_t n = count_.load(std::memory_order_relaxed);
        changes_[n % kept] = change;
        count_.store(n + 1, std::memory_order_release);
    }
    std::uint64_t count() const noexcept { return count_.load(std::memory_order_acquire); }
    /// Reads change number `n`, less than count(). Returns false if it is not kept any more.
    bool read(std::uint64_t n, PhaseChange& change) const noexcept {
        change = changes_[n % kept];
        std::atomic_thread_fence(std::memory_order_acquire);
        return count() - n < kept; // else it may have been half that of a later one
    }

  private:
    std::atomic<std::uint64_t> count_{0};
    PhaseChange changes_[kept];
};
/// The main thread's.
extern PhaseLog main_phases;

} // namespace libprofile
