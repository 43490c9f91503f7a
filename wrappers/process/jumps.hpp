// Non-local jumps and looks at the stack, which the thread's mark must not survive; see jumps.S and jumps.cpp.
// Contract: the library's constructor calls it.
#pragma once

namespace libprofile {

/// Looks up the real functions, so that a signal handler that jumps need not.
void find_jumps() noexcept;

} // namespace libprofile
