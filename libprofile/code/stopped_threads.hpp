// Tells whether other threads of the process are running.
// Contract: in ordinary context; reads /proc; allocates nothing. May sleep for 50 ms in the life of the process.
#pragma once

namespace libprofile {

/// Whether all other threads, if any, sleep in the kernel. Those of MPI wake up for short moments, which are waited for. Returns false if that
/// cannot be told.
bool do_other_threads_sleep() noexcept;

} // namespace libprofile
