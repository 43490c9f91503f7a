// A rank's measurements so far, in a file of its own next to the future profile: if the job is killed, only this remains.
// The file is rank-<N>.lprof: a snapshot (a complete profile file of one rank), followed by the journal of the iterations that the main thread has
// closed since. Snapshots are taken at the end of the first iteration, when the journal is full, when nothing was written for
// LIBPROFILE_CHECKPOINT, and at MPI_Pcontrol(2).
//
// Contract: not in signal handlers; no communication. A snapshot needs about 40 KiB of stack (without them there is none), and pages of its own
// for the duration. Only the main thread writes, because its data matter most. It reads the calling thread and those that have ended. Running
// threads cannot be read without stopping them, so they are only counted. Data of another job are never overwritten: the folder belongs to the
// job. The time is booked as measurement overhead.
#pragma once

#include "libprofile/thread/checkpoint_time.hpp"

#include <cstdint>

namespace libprofile {

/// MPI_Pcontrol(2): takes a snapshot now, which replaces the last one. `frame` is that of the wrapper body. Rank 0 reports a failure
/// once.
void write_checkpoint(std::uintptr_t frame) noexcept;

/// Takes the snapshot that is due (thread/checkpoint_time.hpp), at the end of an outermost MPI call, when everything is booked.
void write_due_checkpoint(Thread& thread, std::uintptr_t frame) noexcept;

/// Called at the end of a phase marker of the main thread: does what its closed iterations require.
void keep_iterations(Thread& thread, std::uintptr_t frame) noexcept;

/// Called when the program ends while the main thread's data cannot be read. Leaves the live file as it is and says so, once per job.
void leave_live_file() noexcept;

/// The folder has no room for `bytes` more: removes the live file if they fit then. Called once, by the thread that ends the job.
bool give_room(std::uint64_t bytes) noexcept;

/// This rank's data are complete in `written` (nullptr if they are of no use). Removes the live file, if it is a different file, and a folder that was
/// made for it alone. Called once, by the thread that ends the job.
void remove_checkpoint(const char* written) noexcept;

} // namespace libprofile
