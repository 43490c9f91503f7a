// Whether the process has other threads that are running.
// Contract: in ordinary context; reads /proc; allocates nothing.
#pragma once

namespace libprofile {

/// All other threads of the process sleep in the kernel (or there is none). False also where that cannot be told.
bool do_other_threads_sleep() noexcept;

} // namespace libprofile
