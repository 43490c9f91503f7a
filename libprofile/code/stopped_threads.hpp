// Whether the process has other threads that are running.
// Contract: in ordinary context; reads /proc; allocates nothing. May sleep: for 50 ms, once in the life of the process.
#pragma once

namespace libprofile {

/// All other threads of the process sleep in the kernel (or there is none). Those of MPI wake up for a moment now and then: such a moment is waited
/// for. False also where that cannot be told.
bool do_other_threads_sleep() noexcept;

} // namespace libprofile
