// Measures what an MPI call costs the application that the runtime's own readings of the clock do not see (base/unseen_cost.hpp).
#pragma once

namespace libprofile {

struct Thread;

/// Makes some thousand calls of a function that does nothing, as an application calls MPI, and takes the fastest. Nothing of them is left.
/// Contract: once, by the main thread when the measurement begins, before its first event and outside of libprofile's other work. Takes 0.1 ms,
/// with all signals blocked. Memory: what the thread's first call needs anyway.
void calibrate(Thread& thread) noexcept;

} // namespace libprofile
