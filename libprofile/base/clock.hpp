// Time stamps in ns and thread CPU time.
// Contract: now() and thread_cpu_time() are async-signal-safe, take no lock and allocate nothing. The thread that starts the session
// calls choose() once, before the first time stamp that matters.
//
// Stamps are converted, not differences. Every stamp goes through the same affine map, so sums over adjacent intervals are exact.
#pragma once

#include "libprofile/base/arch/processor.hpp"

#include <cstdint>
#include <ctime>
#include <sys/types.h>

namespace libprofile {

class Clock {
  public:
    enum class Source : std::uint8_t { Monotonic = 0, Tsc = 1 };

    /// Remembers the start of the process (called by the constructor of the library).
    void mark_start() noexcept;
    /// Fixes the source. `wanted`: "auto", "tsc" (the processor's counter) or "monotonic". Where the counter's rate is not known, calibrates it against
    /// CLOCK_MONOTONIC over at least 2 ms since mark_start(). Returns false if "tsc" was wanted but is not usable here.
    bool choose(const char* wanted) noexcept;
    Source source() const { return source_; }

    /// ns since mark_start().
    std::uint64_t now() const noexcept {
        if (source_ == Source::Tsc) [[likely]]
            return at(read_ticks());
        return monotonic_since_start();
    }
    /// The same if the time stamp counter has just been read (processor_ticks()).
    std::uint64_t at(std::uint64_t ticks) const noexcept {
        if (source_ == Source::Tsc) [[likely]]
            return static_cast<std::uint64_t>((static_cast<unsigned __int128>(ticks - tsc_start_) * ns_per_tick_) >> 32);
        return monotonic_since_start();
    }

    /// CLOCK_MONOTONIC at mark_start().
    std::uint64_t origin() const { return monotonic_start_; }
    /// What this clock and CLOCK_MONOTONIC, since origin(), show at one moment (1 us).
    struct Reading {
        std::uint64_t own_ns = 0;
        std::uint64_t monotonic_ns = 0;
    };
    Reading read() const noexcept;

    static std::uint64_t monotonic() noexcept {
        timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
    }

  private:
    [[gnu::cold]] std::uint64_t monotonic_since_start() const noexcept;

    Source source_ = Source::Monotonic;
    std::uint64_t monotonic_start_ = 0;
    std::uint64_t tsc_start_ = 0;
    std::uint64_t ns_per_tick_ = 0; // fixed point, 32 fractional bits
};

/// The time stamp counter.
inline std::uint64_t processor_ticks() noexcept { return read_ticks(); }

/// CPU time of the calling thread in ns (194 ns a read: at samples, long events and segment ends only).
inline std::uint64_t thread_cpu_time() noexcept {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// The CPU clock of a thread by its kernel id (the kernel's encoding: inverted id, per thread, scheduler clock). Unlike
/// pthread_getcpuclockid() it needs no handle, which may be gone when the thread is.
inline clockid_t cpu_clock_of(pid_t thread) noexcept { return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | 6u); }
/// Returns 0 if the thread is gone.
inline std::uint64_t cpu_time_of(pid_t thread) noexcept {
    timespec t{};
    if (clock_gettime(cpu_clock_of(thread), &t) != 0) return 0;
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

} // namespace libprofile
