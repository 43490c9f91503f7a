// Recording on or off, as one thread sees it. The switch is the session's state and belongs to the process (MPI_Pcontrol,
// LIBPROFILE_START); a thread whose phase stack is paused has seen that it is off.
//
// Contract: for the calling thread only, outside MPI calls that are being recorded, with the in-tool flag set;
// async-signal-safe. The thread that switches follows at once, so that its pause begins and ends at the call; the others
// do at their next MPI call, sample or marker.
#pragma once

#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// Begins or ends the thread's pause at `now` if the switch says so; nothing may be booked beyond `now` yet. True: it
/// records.
bool follow_switch(Thread& thread, std::uint64_t now) noexcept;

/// For a silent thread: true when it records from `now` on.
inline bool wakes(Thread& thread, std::uint64_t now) noexcept { return !thread.finished && follow_switch(thread, now); }

/// The calling thread, if it records from now on; nullptr: it does not.
[[gnu::cold]] Thread* waking_thread() noexcept;
/// The same, for places where it mostly records already.
inline Thread* recording_thread() noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || thread->is_silent()) [[unlikely]]
        return waking_thread();
    return thread;
}

/// An MPI call begins while recording is off; `frame` is that of its wrapper body.
void follow_unrecorded_call(std::uintptr_t frame) noexcept;

} // namespace libprofile
