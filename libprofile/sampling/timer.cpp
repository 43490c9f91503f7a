#include "libprofile/sampling/timer.hpp"

#include "libprofile/sampling/sample_handler.hpp"
#include "libprofile/session/clock.hpp"
#include "libprofile/session/real_calls.hpp"
#include "libprofile/session/session.hpp"
#include "wrappers/process/signals.hpp"

#include <cerrno>
#include <csignal>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace libprofile {

namespace {
int sample_signal = 0; // 0: sampling is off
int cookie = 0;        // its address marks the signals of our timers
} // namespace

bool prepare_sampling() noexcept {
    if (session.config().number(Option::Rate) == 0) return true;
    // From the middle of the range: libc and other tools take theirs from the ends.
    for (int signal = first_sampling_signal(); signal < SIGRTMAX; ++signal) {
        struct sigaction present {};
        if (real_calls().sigaction(signal, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
        struct sigaction wanted {};
        wanted.sa_sigaction = handle_sample;
        wanted.sa_flags = SA_SIGINFO | SA_RESTART;
        // No handler of the application may run inside ours: it might leave it by siglongjmp. Faults are not held back.
        sigfillset(&wanted.sa_mask);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&wanted.sa_mask, fault);
        if (real_calls().sigaction(signal, &wanted, nullptr) != 0) continue;
        sample_signal = signal;
        return true;
    }
    return false;
}

int sampling_signal() noexcept { return sample_signal; }

bool is_our_timer(const siginfo_t& info) noexcept {
    return info.si_code == SI_TIMER && info.si_value.sival_ptr == &cookie;
}

bool start_timer(Thread& thread, pid_t id) noexcept {
    if (sample_signal == 0 || thread.timer_running || thread.finished) return true;
    const clockid_t clock = cpu_clock_of(id);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = sample_signal;
    event.sigev_value.sival_ptr = &cookie;
    event.sigev_notify_thread_id = id;
    if (timer_create(clock, &event, &thread.timer) != 0) return false;
    const long period = 1000000000L / static_cast<long>(session.config().number(Option::Rate));
    itimerspec when{};
    when.it_interval.tv_sec = period / 1000000000L;
    when.it_interval.tv_nsec = period % 1000000000L;
    when.it_value = when.it_interval;
    thread.last_sample_cpu = cpu_time_of(id);
    thread.timer_running = timer_settime(thread.timer, 0, &when, nullptr) == 0;
    if (!thread.timer_running) timer_delete(thread.timer);
    return thread.timer_running;
}

void stop_timer(Thread& thread) noexcept {
    if (!thread.timer_running) return;
    thread.timer_running = false;
    timer_delete(thread.timer);
}

} // namespace libprofile
