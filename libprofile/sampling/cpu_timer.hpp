// POSIX timers that signal one thread.
// Contract: async-signal-safe. Timers survive whatever the application does to its files. timer_delete() deletes them.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>
#include <sys/types.h>

namespace libprofile {

/// Creates a timer that is not set yet. Returns false if the kernel refuses it (limit of pending signals).
bool create_timer(timer_t& timer, clockid_t clock, pid_t thread, int signal) noexcept;
/// Makes it expire every `period` ns from now on.
bool set_timer(timer_t timer, std::uint64_t period) noexcept;
/// Returns true if one of these timers sent the signal.
bool is_our_timer(const siginfo_t& info) noexcept;

} // namespace libprofile
