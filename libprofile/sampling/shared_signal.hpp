// The one signal that carries samples; an application may use it, too.
// Contract: async-signal-safe.
#pragma once

#include <csignal>

namespace libprofile {

/// The start of the search for a free real-time signal: the middle of the range, since libc and other tools take theirs from the ends.
inline int first_sampling_signal() noexcept { return SIGRTMIN + 9; }

/// The disposition of the signal that the application sees; SIG_DFL at first. wrappers/process/signals.cpp sets it.
inline struct sigaction shown_action;

/// Handles a signal that no clock of ours has sent: calls the application's handler for it, or takes its default action.
void forward_signal(int signal, siginfo_t* info, void* context) noexcept;

} // namespace libprofile
