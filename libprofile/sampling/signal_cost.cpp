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

/// The median gap that the signals of a counter leave between two readings of the clock; 0 if they do not come. What else runs makes single gaps longer.
std::uint64_t gap_of_signals(int signal, std::uint64_t period) {
    const std::uint64_t limit = 20 * period * attempts;
    ClockState clock;
    if (!prepare(signal) || open_counter(clock, gettid(), period, signal) != 0) return 0;
    counter = &clock;
    std::uint64_t gaps[attempts];
    int seen = 0;
    const std::uint64_t begin = session_clock.now();
    if (arm_counter(clock)) {
        std::uint64_t last = begin, gap_before = 0;
        while (seen < attempts && last - begin < limit) {
            const int all = signals_seen, come = std::min(all, attempts);
            const std::uint64_t now = session_clock.now();
            const std::uint64_t gap = std::max(gap_before, now - last); // they have come since the last look: in one of two gaps
            for (const int before = seen; seen < come; ++seen) gaps[seen] = gap / static_cast<std::uint64_t>(come - before);
            gap_before = now - last;
            last = now;
        }
    }
    counter = nullptr;
    close_counter(clock);
    if (seen < attempts) return 0;
    std::nth_element(gaps, gaps + attempts / 2, gaps + attempts);
    return std::min<std::uint64_t>(gaps[attempts / 2], limit);
}

} // namespace

std::uint32_t cost_of_signal(int signal) noexcept {
    if (!prepare(signal)) return 0;
    const std::uint64_t call = least_time([] { syscall(SYS_getppid); });
    const std::uint64_t both = least_time([signal] { syscall(SYS_tgkill, getpid(), gettid(), signal); });
    return both > call && signals_seen == attempts ? static_cast<std::uint32_t>(both - call) : 0;
}

std::uint32_t cost_of_counter(int signal) noexcept {
    // Signals that take longer than they are apart come several in a gap, and cost less than one that comes alone.
    constexpr std::uint64_t longest_period = 1000000;
    std::uint64_t period = 20000, cost = 0;
    for (int tries = 0; tries < 3; ++tries) {
        const std::uint64_t gap = gap_of_signals(signal, period);
        if (gap == 0) break;
        cost = gap;
        if (cost * 3 < period) break;
        period = std::min(cost * 4, longest_period);
    }
    return static_cast<std::uint32_t>(cost);
}

} // namespace libprofile
