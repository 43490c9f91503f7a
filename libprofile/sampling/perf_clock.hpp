// The kernel's task clock of a thread, as a perf counter that signals this very thread after each period.
// Contract: async-signal-safe except open_counter(). Touches only files that are still ours: the application may close a file and open its own with the
// same number, so the kernel is first asked for the counter's id.
//
// It counts user mode only. That needs no privilege (kernel.perf_event_paranoid up to 2), and its signal always arises between two instructions of the
// program. With kernel mode, one in twelve signals fell into a system call that was about to sleep, and ended it with EINTR.
// One signal at a time: after each, the counter is disabled until arm_counter(). A handler that takes longer than a period must not find the next signal
// waiting.
#pragma once

#include "libprofile/thread/clock_state.hpp"

#include <csignal>
#include <sys/types.h>

namespace libprofile {

/// Opens a counter that does not count yet. Returns 0 or errno.
int open_counter(ClockState& clock, pid_t thread, std::uint64_t period, int signal) noexcept;
/// Returns true if the file is still the one that open_counter() has opened.
bool is_own_counter(const ClockState& clock) noexcept;
/// Makes the next signal come after `period` ns. Returns false if the kernel refuses.
bool set_counter_period(const ClockState& clock, std::uint64_t period) noexcept;
/// Makes it count until it has sent one signal.
bool arm_counter(const ClockState& clock) noexcept;
/// The same for the counter that has just sent this signal.
void arm_counter_of(const siginfo_t& info) noexcept;
/// Stops and closes it if it is still ours. Not in a fork child, whose file is the parent's counter.
void close_counter(const ClockState& clock) noexcept;
/// Returns true if a counter of ours sent the signal, even if it is closed by now.
bool is_our_counter(const siginfo_t& info) noexcept;

} // namespace libprofile
