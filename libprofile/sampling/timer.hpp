// The sampling timer of a thread: a POSIX timer on the thread's CPU clock that signals this very thread.
// Contract: prepare() once per session, outside handlers; start_timer/stop_timer with the in-tool flag set.
// A CPU clock never fires while the thread sleeps, so no system call of the application is interrupted by it
// (notes: wall-clock timers make sleep() return early). The signal is a real-time signal that nobody uses.
#pragma once

#include "libprofile/session/thread.hpp"

#include <csignal>

namespace libprofile {

/// Installs the signal handler. False: no free real-time signal, then nothing is sampled.
bool prepare_sampling() noexcept;

/// The signal in use, 0 for none. Async-signal-safe.
int sampling_signal() noexcept;

/// The signal was sent by one of our timers.
bool is_our_timer(const siginfo_t& info) noexcept;

/// False: the kernel refused a timer; the thread then has no samples.
bool start_timer(Thread& thread, pid_t id) noexcept;
void stop_timer(Thread& thread) noexcept;

} // namespace libprofile
