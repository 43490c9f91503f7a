// The signal handler that takes a sample.
// Contract: runs in signal context on the sampled thread: async-signal-safe, no allocation from the application's malloc, no foreign lock, errno
// kept. It never runs inside itself or inside other libprofile code: if the in-tool flag is set, it only counts.
#pragma once

#include <csignal>

namespace libprofile {

void handle_sample(int signal, siginfo_t* info, void* context) noexcept;

} // namespace libprofile
