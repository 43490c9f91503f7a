#include "libprofile/sampling/cpu_timer.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace libprofile {

namespace {
int cookie = 0; // its address marks the signals of our timers
} // namespace

bool create_timer(timer_t& timer, clockid_t clock, pid_t thread, int signal) noexcept {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_value.sival_ptr = &cookie;
    event.sigev_notify_thread_id = thread;
    return timer_create(clock, &event, &timer) == 0;
}

bool set_timer(timer_t timer, std::uint64_t period) noexcept {
    itimerspec when{};
    when.it_interval.tv_sec = static_cast<time_t>(period / 1000000000u);
    when.it_interval.tv_nsec = static_cast<long>(period % 1000000000u);
    when.it_value = when.it_interval;
    return timer_settime(timer, 0, &when, nullptr) == 0;
}

bool is_our_timer(const siginfo_t& info) noexcept { return info.si_code == SI_TIMER && info.si_value.sival_ptr == &cookie; }

} // namespace libprofile
