#include "libprofile/sampling/sample_clock.hpp"

#include "format/sampling_rate.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/sampling/cpu_timer.hpp"
#include "libprofile/sampling/perf_clock.hpp"
#include "libprofile/sampling/shared_signal.hpp"
#include "libprofile/sampling/signal_cost.hpp"
#include "libprofile/sampling/skip.hpp"
#include "libprofile/thread/thread.hpp"

#include <algorithm>
#include <cerrno>
#include <ucontext.h>
#include <unistd.h>

namespace libprofile {

namespace {

int sample_signal = 0;    // 0 if sampling is off
std::uint64_t period = 0; // the first one if it is automatic
bool is_automatic = false;
std::uint64_t beat = 0; // period of the timer that accompanies a counter
pid_t sampled_process = 0;
// What the handler does not see of a sample, ns (signal_cost.hpp).
std::uint32_t counter_cost = 0;
std::uint32_t timer_cost = 2500; // if it cannot be measured
std::atomic<int> refusal{0};

SampleClockChoice choice() { return process.config().choice<SampleClockChoice>(); }

/// CPU timers expire on kernel ticks.
std::uint64_t tick() {
    timespec resolution{};
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
    return static_cast<std::uint64_t>(resolution.tv_nsec);
}

/// They keep their rate only if they expire on every second tick at most.
std::uint64_t shortest_timer() { return 2 * tick(); }

/// Automatic intervals may be shorter: from half a tick to little more than one, so that five samples in six are at the next tick.
std::uint64_t shortest_automatic_timer() { return tick() / 4 * 3; }

/// A timer that keeps the rate is better: it sees kernel time, too, costs less and needs no file. For an automatic one it is fast enough if it
/// would do for a hundred samples a second.
bool wants_counter() {
    constexpr std::uint64_t hundredth = 10000000;
    if (choice() != SampleClockChoice::Auto) return choice() == SampleClockChoice::Perf;
    return is_automatic ? tick() >= hundredth : period < shortest_timer();
}

bool start_counter(Thread& thread, pid_t id) {
    ClockState& clock = thread.clock;
    if (!wants_counter()) return false;
    if (const int error = open_counter(clock, id, clock.rate.interval(), sample_signal); error != 0) {
        if (choice() == SampleClockChoice::Perf) refusal.store(error, std::memory_order_relaxed);
        return false;
    }
    clock.kind = SamplingClock::Perf;
    clock.unseen_ns = counter_cost;
    clock.has_timer = create_timer(clock.timer, cpu_clock_of(id), id, sample_signal) && set_timer(clock.timer, beat);
    clock.running = true; // before the first signal can come
    if (arm_counter(clock)) return true;
    clock.running = false;
    close_counter(clock);
    if (clock.has_timer) timer_delete(clock.timer);
    clock.has_timer = false;
    return false;
}

bool start_timer(Thread& thread, pid_t id) {
    ClockState& clock = thread.clock;
    const bool wall = choice() == SampleClockChoice::Wall;
    if (!create_timer(clock.timer, wall ? CLOCK_MONOTONIC : cpu_clock_of(id), id, sample_signal)) return false;
    clock.kind = wall ? SamplingClock::Wall : SamplingClock::Timer;
    if (!wall) clock.rate.limit(shortest_automatic_timer());
    clock.has_timer = true;
    clock.running = true; // before the first signal can come
    if (set_timer(clock.timer, clock.rate.interval())) return true;
    clock.running = false;
    clock.has_timer = false;
    timer_delete(clock.timer);
    return false;
}

/// The application has closed the counter's file.
void lose_counter(ClockState& clock) {
    if (!clock.running) return; // another thread has just stopped this clock
    clock.was_lost = true;
    clock.kind = SamplingClock::Timer;
    clock.unseen_ns = timer_cost;
    close_counter(clock); // leaves it alone if the file is the application's by now
    clock.file = -1;
    clock.last -= clock.hidden;
    clock.hidden = 0;
    clock.rate.limit(shortest_automatic_timer());
    if (clock.has_timer) set_timer(clock.timer, clock.rate.interval());
}

/// How long a counter may be silent before it is suspected, times 4/3.
std::uint64_t beat_of(const ClockState& clock) { return std::max(beat, 2 * clock.rate.interval()); }

/// Notes periods that have ended without a signal since the last reading. Signals have come for `seen` ns of them, including the present one.
void note_hidden(Thread& thread, std::uint64_t reading, std::uint64_t seen) {
    ClockState& clock = thread.clock;
    const std::uint64_t mean = clock.rate.mean();
    const std::uint64_t ended = reading > clock.last ? reading - clock.last + mean / 4 : 0; // a quarter more, since signals come late
    if (ended < seen + mean) return;
    const std::uint64_t without = (ended - seen) / mean * mean;
    clock.last += without;
    if (thread.call_depth == 0) clock.hidden += without;
}

/// Returns true if the thread was in the kernel for a system call: the instruction before the next one is one.
bool is_in_system_call(const void* context) { return is_system_call(registers_of(context).instruction); }

} // namespace

bool prepare_sampling(void (*handler)(int, siginfo_t*, void*)) noexcept {
    const std::int64_t configured = process.config().number(Option::Sample);
    if (configured == 0) return true;
    is_automatic = configured == automatic_period;
    period = is_automatic ? SampleRate::shortest_automatic : static_cast<std::uint64_t>(configured);
    beat = 2 * period > shortest_timer() ? 2 * period : shortest_timer();
    sampled_process = getpid();
    know_modules();
    // From the middle of the range, since libc and other tools take theirs from the ends.
    for (int signal = first_sampling_signal(); signal < SIGRTMAX; ++signal) {
        struct sigaction present {};
        if (real_calls().sigaction(signal, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
        struct sigaction wanted {};
        wanted.sa_sigaction = handler;
        wanted.sa_flags = SA_SIGINFO | SA_RESTART;
        // No handler of the application may run inside ours, because it might leave it by siglongjmp. Faults are not blocked.
        sigfillset(&wanted.sa_mask);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&wanted.sa_mask, fault);
        if (const std::uint32_t cost = cost_of_signal(signal); cost != 0) timer_cost = cost;
        counter_cost = wants_counter() ? cost_of_counter(signal) : 0;
        if (counter_cost == 0) counter_cost = timer_cost;
        if (real_calls().sigaction(signal, &wanted, nullptr) != 0) continue;
        sample_signal = signal;
        return true;
    }
    return false;
}

int sampling_signal() noexcept { return sample_signal; }

int perf_refusal() noexcept { return refusal.load(std::memory_order_relaxed); }

bool is_our_signal(const siginfo_t& info) noexcept { return is_our_timer(info) || is_our_counter(info); }

bool start_clock(Thread& thread, pid_t id) noexcept {
    // Both the thread itself and the thread that begins sampling may come here.
    if (sample_signal == 0 || thread.finished || __atomic_exchange_n(&thread.clock.claimed, true, __ATOMIC_ACQ_REL)) return true;
    thread.clock.unseen_ns = timer_cost;
    if (is_automatic)
        thread.clock.rate.adapt(counter_cost, static_cast<std::uint64_t>(id));
    else
        thread.clock.rate.fix(period);
    // Before it runs: the time until now belongs to no sample.
    thread.clock.last = choice() == SampleClockChoice::Wall ? session_clock.now() : cpu_time_of(id);
    if (start_counter(thread, id) || start_timer(thread, id)) return true;
    thread.clock.kind = SamplingClock::None;
    return false;
}

void stop_clock(Thread& thread) noexcept {
    ClockState& clock = thread.clock;
    if (!clock.running) return;
    clock.running = false;
    if (getpid() != sampled_process) return; // a fork child: the clocks are its parent's
    if (clock.file >= 0) close_counter(clock);
    if (clock.has_timer) timer_delete(clock.timer);
    clock.file = -1;
    clock.has_timer = false;
}

bool is_due(Thread& thread, const siginfo_t& info, const void* context) noexcept {
    ClockState& clock = thread.clock;
    if (clock.kind != SamplingClock::Perf || !is_our_timer(info)) return true;
    if (thread_local_block.in_tool != 0) return false; // neither kernel time nor the thread's own
    const std::uint64_t reading = thread_cpu_time();
    const bool is_silent = reading >= clock.last + beat_of(clock) / 4 * 3;
    const std::uint64_t interval = clock.rate.interval(), mean = clock.rate.mean();
    note_hidden(thread, reading, clock.in_tool + (interval > mean ? interval - mean : 0)); // a long one may still run
    if (is_silent && !is_own_counter(clock)) lose_counter(clock);
    return is_silent || (clock.hidden != 0 && is_in_system_call(context));
}

std::uint64_t weigh(Thread& thread, const siginfo_t& info, std::uint64_t reading) noexcept {
    ClockState& clock = thread.clock;
    if (clock.kind == SamplingClock::Perf && is_our_timer(info)) {
        // Most of it may be page faults, which a beat cannot detect. A rare system call must not get them all.
        const std::uint64_t most = 4 * beat_of(clock);
        const std::uint64_t weight = clock.hidden < most ? clock.hidden : most;
        if (thread.call_depth == 0) clock.hidden = 0;
        return weight;
    }
    if (clock.kind == SamplingClock::Perf) note_hidden(thread, reading, clock.in_tool + clock.rate.interval());
    const std::uint64_t weight = reading > clock.last ? reading - clock.last : 0;
    clock.last = reading;
    clock.in_tool = 0;
    return weight;
}

void arm_again(Thread* thread, const siginfo_t& info) noexcept {
    const bool is_timer = is_our_timer(info);
    if (thread == nullptr) {
        if (!is_timer) arm_counter_of(info);
        return;
    }
    ClockState& clock = thread->clock;
    if (!clock.running || (clock.kind == SamplingClock::Perf) == is_timer) return; // a beat, or a counter that is lost
    const std::uint64_t interval = clock.rate.next();
    if (is_timer) {
        if (!clock.rate.is_fixed()) set_timer(clock.timer, interval); // a fixed one repeats itself
        return;
    }
    if (!is_own_counter(clock) || (!clock.rate.is_fixed() && !set_counter_period(clock, interval)) || !arm_counter(clock)) lose_counter(clock);
}

} // namespace libprofile
