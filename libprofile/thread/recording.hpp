// Recording on or off, as one thread sees it. The switch is the session's state and belongs to the process (MPI_Pcontrol, LIBPROFILE_START). A thread
// with a paused phase stack has seen that it is off.
//
// Contract: for the calling thread only, outside MPI calls that are being recorded, with the in-tool flag set; async-signal-safe. The thread that
// switches follows at once, so its pause begins and ends at the call. Others follow at their next MPI call, sample or marker.
#pragma once

#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// Begins or ends the thread's pause at `now` if the switch says so. Nothing may be booked beyond `now` yet. Returns true if the thread records.
bool follow_switch(Thread& thread, std::uint64_t now) noexcept;

/// For a silent thread: returns true if it records from `now` on.
inline bool wakes(Thread& thread, std::uint64_t now) noexcept { return !thread.finished && follow_switch(thread, now); }

/// Returns the calling thread if it records from now on, else nullptr.
[[gnu::cold]] Thread* waking_thread() noexcept;
/// The same, for callers that mostly record already.
inline Thread* recording_thread() noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || thread->is_silent()) [[unlikely]]
        return waking_thread();
    return thread;
}

/// An MPI call begins while recording is off; `frame` is that of its wrapper body.
void follow_unrecorded_call(std::uintptr_t frame) noexcept;

} // namespace libprofile
