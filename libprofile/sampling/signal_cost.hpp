// Measures what a sample takes besides its handler: the kernel's work for the timer and the signal, and the return from the handler.
#pragma once

#include <cstdint>

namespace libprofile {

/// Sends `signal`, which nobody uses, to the calling thread a few times. Returns ns of one, 0 if that is unknown. Leaves a handler behind, which does
/// nothing.
/// Contract: once, in ordinary context, before the signal is used. Takes some 10 us.
std::uint32_t cost_of_signal(int signal) noexcept;

/// The same for the signals of a perf counter, with the kernel's interrupt for each and what arms it again. Takes 0.2 to 0.5 ms, and some 5 ms where a
/// signal takes 0.1 ms, as in nested virtual machines; 0 if there is no counter.
std::uint32_t cost_of_counter(int signal) noexcept;

} // namespace libprofile
