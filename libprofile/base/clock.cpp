#include "libprofile/base/clock.hpp"

#include <cstring>

namespace libprofile {

/// Reads both clocks as of one moment: two readings of the TSC bracket that of CLOCK_MONOTONIC. The tightest of eight attempts counts,
/// so a cold cache or an interruption does no harm.
static void read_both(std::uint64_t& tsc, std::uint64_t& monotonic) noexcept {
    std::uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
        const std::uint64_t before = read_ticks();
        const std::uint64_t now = Clock::monotonic();
        const std::uint64_t after = read_ticks();
        if (after - before >= tightest) continue;
        tightest = after - before;
        tsc = before + tightest / 2;
        monotonic = now;
    }
}

std::uint64_t Clock::monotonic_since_start() const noexcept { return monotonic() - monotonic_start_; }

void Clock::mark_start() noexcept {
    if (monotonic_start_ != 0) return;
    read_both(tsc_start_, monotonic_start_);
}

Clock::Reading Clock::read() const noexcept {
    if (source_ == Source::Tsc) {
        std::uint64_t tsc = 0, monotonic = 0;
        read_both(tsc, monotonic);
        return {at(tsc), monotonic - monotonic_start_};
    }
    const std::uint64_t since_start = monotonic_since_start();
    return {since_start, since_start};
}

bool Clock::choose(const char* wanted) noexcept {
    mark_start();
    if (std::strcmp(wanted, "monotonic") == 0) return true;
    if (ticks_are_steady()) {
        constexpr std::uint64_t calibration_ns = 2000000;
        std::uint64_t elapsed = 1000000000;
        std::uint64_t ticks = ticks_per_second();
        if (ticks == 0) {
            do {
                read_both(ticks, elapsed);
                ticks -= tsc_start_;
                elapsed -= monotonic_start_;
            } while (elapsed < calibration_ns);
        }
        ns_per_tick_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(elapsed) << 32) / ticks);
        source_ = Source::Tsc;
        return true;
    }
    return std::strcmp(wanted, "tsc") != 0;
}

} // namespace libprofile
