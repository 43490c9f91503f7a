#include "libprofile/base/clock.hpp"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace libprofile {

namespace {

#if defined(__x86_64__)
bool tsc_is_invariant() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

/// The kernel stops using the TSC when it finds that processors disagree about it. Then it is of no use to us either.
bool kernel_trusts_tsc() {
    const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char name[32] = {};
    const ssize_t size = read(file, name, sizeof name - 1);
    close(file);
    return size >= 3 && (std::strncmp(name, "tsc", 3) == 0 || std::strncmp(name, "kvm-clock", 9) == 0 || std::strncmp(name, "hyperv", 6) == 0);
}
#endif

} // namespace

#if defined(__x86_64__)
/// Reads both clocks as of one moment: two readings of the TSC bracket that of CLOCK_MONOTONIC. The tightest of eight attempts counts,
/// so a cold cache or an interruption does no harm.
static void read_both(std::uint64_t& tsc, std::uint64_t& monotonic) noexcept {
    std::uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
        const std::uint64_t before = __rdtsc();
        const std::uint64_t now = Clock::monotonic();
        const std::uint64_t after = __rdtsc();
        if (after - before >= tightest) continue;
        tightest = after - before;
        tsc = before + tightest / 2;
        monotonic = now;
    }
}
#endif

std::uint64_t Clock::monotonic_since_start() const noexcept { return monotonic() - monotonic_start_; }

void Clock::mark_start() noexcept {
    if (monotonic_start_ != 0) return;
#if defined(__x86_64__)
    read_both(tsc_start_, monotonic_start_);
#else
    monotonic_start_ = monotonic();
#endif
}

Clock::Reading Clock::read() const noexcept {
#if defined(__x86_64__)
    if (source_ == Source::Tsc) {
        std::uint64_t tsc = 0, monotonic = 0;
        read_both(tsc, monotonic);
        return {at(tsc), monotonic - monotonic_start_};
    }
#endif
    const std::uint64_t since_start = monotonic_since_start();
    return {since_start, since_start};
}

bool Clock::choose(const char* wanted) noexcept {
    mark_start();
    if (std::strcmp(wanted, "monotonic") == 0) return true;
#if defined(__x86_64__)
    if (tsc_is_invariant() && kernel_trusts_tsc()) {
        constexpr std::uint64_t calibration_ns = 2000000;
        std::uint64_t elapsed = 0;
        std::uint64_t ticks = 0;
        do {
            read_both(ticks, elapsed);
            ticks -= tsc_start_;
            elapsed -= monotonic_start_;
        } while (elapsed < calibration_ns);
        ns_per_tick_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(elapsed) << 32) / ticks);
        source_ = Source::Tsc;
        return true;
    }
#endif
    return std::strcmp(wanted, "tsc") != 0;
}

} // namespace libprofile
