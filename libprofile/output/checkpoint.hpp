// What a rank has measured so far, as a file of its own beside the profile to be: all that is left of the job if it is killed.
//
// Contract: write_checkpoint() not in signal handlers; no communication; takes some 40 KiB of stack (without them it does nothing), and
// pages of its own while it lasts. Only the main thread writes: its data are the ones that must not be missing. It reads the calling thread and those that have ended; threads that run cannot be read without
// stopping them, so they are counted only. remove_checkpoint() once, by the thread that ends the job. Neither ever
// overwrites data of another job: the folder is the job's own.
#pragma once

#include <cstdint>

namespace libprofile {

/// MPI_Pcontrol(2): writes rank-<N>.lprof, in place of the checkpoint before. `frame` is that of the wrapper body. The time
/// is measurement overhead. A failure is said once, by rank 0.
void write_checkpoint(std::uintptr_t frame) noexcept;

/// This rank's data are complete in `written`: the checkpoint, if it is another file, goes, and so does a folder that was
/// made for it alone.
void remove_checkpoint(const char* written) noexcept;

} // namespace libprofile
