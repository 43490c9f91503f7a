// What a rank has measured so far, as a file of its own beside the profile to be: all that is left of the job if it is killed.
// It is rank-<N>.lprof: a snapshot (a complete profile file of one rank) and, behind it, the journal of the iterations that the
// main thread has closed since. Snapshots are made at the end of the first iteration, when the journal is full, when nothing
// came into the file for LIBPROFILE_CHECKPOINT, and at MPI_Pcontrol(2).
//
// Contract: not in signal handlers; no communication; a snapshot takes some 40 KiB of stack (without them there is none), and
// pages of its own while it lasts. Only the main thread writes: its data are the ones that must not be missing. It reads the
// calling thread and those that have ended; threads that run cannot be read without stopping them, so they are counted only.
// Neither ever overwrites data of another job: the folder is the job's own. The time is measurement overhead.
#pragma once

#include "libprofile/thread/checkpoint_time.hpp"

#include <cstdint>

namespace libprofile {

/// MPI_Pcontrol(2): a snapshot now, in place of the one before. `frame` is that of the wrapper body. A failure is said
/// once, by rank 0.
void write_checkpoint(std::uintptr_t frame) noexcept;

/// The snapshot that is due (thread/checkpoint_time.hpp), at the end of an outermost MPI call, with nothing left to book.
void write_due_checkpoint(Thread& thread, std::uintptr_t frame) noexcept;

/// At the end of a phase marker of the main thread: what its closed iterations ask for.
void keep_iterations(Thread& thread, std::uintptr_t frame) noexcept;

/// The program ends while the main thread's data cannot be read: the live file stays as it is. Says so, once per job.
void leave_live_file() noexcept;

/// There was no room for `bytes` more in the folder: takes the live file away if they fit then. Once, by the thread that ends the job.
bool give_room(std::uint64_t bytes) noexcept;

/// This rank's data are complete in `written` (nullptr: they are of no use): the live file, if it is another one, goes, and so
/// does a folder that was made for it alone. Once, by the thread that ends the job.
void remove_checkpoint(const char* written) noexcept;

} // namespace libprofile
