// POSIX timers that signal one thread.
// Contract: async-signal-safe; timers survive whatever the application does to its files. They are deleted by timer_delete().
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>
#include <sys/types.h>

namespace libprofile {

/// A timer that is not set yet. False: the kernel refuses it (limit of pending signals).
bool create_timer(timer_t& timer, clockid_t clock, pid_t thread, int signal) noexcept;
/// Lets it expire every `period` ns from now on.
bool set_timer(timer_t timer, std::uint64_t period) noexcept;
/// The signal was sent by one of these timers.
bool is_our_timer(const siginfo_t& info) noexcept;

} // namespace libprofile
