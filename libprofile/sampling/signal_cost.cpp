#include "libprofile/sampling/signal_cost.hpp"

#include "libprofile/base/process_state.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/sampling/perf_clock.hpp"

#include <algorithm>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

namespace {

constexpr int attempts = 8;
const ClockState* counter = nullptr; // is armed again by the handler
volatile int signals_seen = 0;

void see_signal(int, siginfo_t*, void*) {
    signals_seen = signals_seen + 1;
    if (counter != nullptr && signals_seen < attempts) arm_counter(*counter);
}

/// Returns false if the signal would not come now.
bool prepare(int signal) {
    sigset_t blocked;
    if (real_calls().pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, signal) != 0) return false;
    struct sigaction action {};
    action.sa_sigaction = see_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    signals_seen = 0;
    return real_calls().sigaction(signal, &action, nullptr) == 0;
}

template <class Work> std::uint64_t least_time(Work work) {
    std::uint64_t least = UINT64_MAX;
    for (int i = 0; i < attempts; ++i) {
        const std::uint64_t begin = session_clock.now();
        work();
        least = std::min(least, session_clock.now() - begin);
    }
    return least;
}

} // namespace

std::uint32_t cost_of_signal(int signal) noexcept {
    if (!prepare(signal)) return 0;
    const std::uint64_t call = least_time([] { syscall(SYS_getppid); });
    const std::uint64_t both = least_time([signal] { syscall(SYS_tgkill, getpid(), gettid(), signal); });
    return both > call && signals_seen == attempts ? static_cast<std::uint32_t>(both - call) : 0;
}

std::uint32_t cost_of_counter(int signal) noexcept {
    constexpr std::uint64_t period = 20000, limit = 20 * period * attempts;
    ClockState clock;
    if (!prepare(signal) || open_counter(clock, gettid(), period, signal) != 0) return 0;
    counter = &clock;
    // A signal is a gap between two readings of the clock; the least of them is none that something else has made longer.
    std::uint64_t least = UINT64_MAX;
    if (arm_counter(clock)) {
        const std::uint64_t begin = session_clock.now();
        std::uint64_t last = begin, gap_before = 0;
        for (int seen = 0; seen < attempts && last - begin < limit;) {
            const bool has_come = signals_seen != seen;
            seen = signals_seen;
            const std::uint64_t now = session_clock.now();
            if (has_come) least = std::min(least, std::max(gap_before, now - last)); // it has come since the last look: in one of two gaps
            gap_before = now - last;
            last = now;
        }
    }
    counter = nullptr;
    close_counter(clock);
    return least < limit ? static_cast<std::uint32_t>(least) : 0;
}

} // namespace libprofile
