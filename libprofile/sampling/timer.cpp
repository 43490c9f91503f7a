#include "libprofile/sampling/timer.hpp"

#include "libprofile/sampling/sample_handler.hpp"
#include "libprofile/session/real_calls.hpp"
#include "libprofile/session/session.hpp"

#include <cerrno>
#include <csignal>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace libprofile {

namespace {
int sample_signal = 0; // 0: sampling is off
}

bool prepare_sampling() noexcept {
    if (session.config().number(Option::Rate) == 0) return true;
    // From the middle of the range: libc and other tools take theirs from the ends.
    for (int signal = SIGRTMIN + 9; signal < SIGRTMAX; ++signal) {
        struct sigaction present {};
        if (real_calls().sigaction(signal, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
        struct sigaction wanted {};
        wanted.sa_sigaction = handle_sample;
        wanted.sa_flags = SA_SIGINFO | SA_RESTART;
        sigemptyset(&wanted.sa_mask);
        if (real_calls().sigaction(signal, &wanted, nullptr) != 0) continue;
        sample_signal = signal;
        return true;
    }
    return false;
}

int sampling_signal() noexcept { return sample_signal; }

void start_timer(Thread& thread, pid_t id, pthread_t handle) noexcept {
    if (sample_signal == 0 || thread.timer_running || thread.finished) return;
    clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
    if (pthread_getcpuclockid(handle, &clock) != 0) return;
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = sample_signal;
    event.sigev_notify_thread_id = id;
    if (timer_create(clock, &event, &thread.timer) != 0) return;
    const long period = 1000000000L / static_cast<long>(session.config().number(Option::Rate));
    itimerspec when{};
    when.it_interval.tv_sec = period / 1000000000L;
    when.it_interval.tv_nsec = period % 1000000000L;
    when.it_value = when.it_interval;
    timespec now{};
    if (clock_gettime(clock, &now) == 0)
        thread.last_sample_cpu = static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
    thread.timer_running = timer_settime(thread.timer, 0, &when, nullptr) == 0;
    if (!thread.timer_running) timer_delete(thread.timer);
}

void stop_timer(Thread& thread) noexcept {
    if (!thread.timer_running) return;
    thread.timer_running = false;
    timer_delete(thread.timer);
}

} // namespace libprofile
