// The one signal that carries samples, shared with an application that may use it, too.
// Contract: async-signal-safe.
#pragma once

#include <csignal>

namespace libprofile {

/// Where the search for a free real-time signal begins: from the middle of the range, since libc and other tools take
/// theirs from the ends.
inline int first_sampling_signal() noexcept { return SIGRTMIN + 9; }

/// What the application believes to be the signal's disposition; SIG_DFL at first. wrappers/process/signals.cpp keeps it.
inline struct sigaction shown_action;

/// A signal that no timer of ours has sent goes to the handler the application has set for it, or takes its default action.
void forward_signal(int signal, siginfo_t* info, void* context) noexcept;

} // namespace libprofile
