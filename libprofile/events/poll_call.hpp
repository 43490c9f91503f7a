// The part of the wrapper bodies of functions that poll which is compiled into them: one more of a run of unsuccessful polls, where it is expected.
// Contract: that of mpi_events.hpp. A body looks like this, and ends in a function of its own that does all else:
//
//     void* const own_frame = LIBPROFILE_OWN_FRAME;
//     int result = 0;
//     Thread* const thread = begin_expected_poll(function_id, __builtin_return_address(0), own_frame);
//     if (thread != nullptr) {
//         result = real.MPI_Iprobe(...);
//         if (result == MPI_SUCCESS && !*flag && end_expected_poll(*thread, own_frame)) return result;
//     }
//     return complete_Iprobe({__builtin_return_address(0), own_frame, thread, result}, ...); // with an MpiEvent event(MpiEvent::polls, function_id, call)
//
// Why: a program computes little between its polls, and the processor does both at once. So each instruction here also delays the program's own:
// MPIRandomAccess of hpcc lost 40 ns with each poll, of which the 220 instructions took 13.
#pragma once

#include "libprofile/base/process_state.hpp"
#include "libprofile/thread/thread.hpp"

namespace libprofile {

/// How the body of a poll has begun.
struct PollCall {
    void* return_address;
    void* frame;
    Thread* thread; // the caller's, if the call was expected, and has begun
    int result;     // what MPI returned then
};

/// Returns the caller's thread if the call has begun, as one more of the run. The in-tool flag is not set, so a signal handler of the application may
/// call MPI at any place. Before call_depth is written, such a call may end the run, and even begin another: so all is asked after that, when it is a
/// nested one. The call is as the last one was, so calls[0] describes it, too.
[[gnu::always_inline]] inline Thread* begin_expected_poll(unsigned function_id, const void* return_address, const void* frame) noexcept {
    const ThreadLocal& local = thread_local_block;
    Thread* const thread = local.thread;
    if (thread == nullptr) [[unlikely]]
        return nullptr;
    ExpectedPoll& next = thread->phases.time().polls().next;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (next.frame != own_frame || local.in_tool != 0 || thread->call_depth != 0) [[unlikely]]
        return nullptr;
    thread->call_depth = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (next.frame != own_frame || next.function != function_id || next.left == 0 || !next.leads_to(local.mark, return_address) ||
        next.state != process_state.session_and_epoch()) [[unlikely]] {
        thread->call_depth = 0;
        return nullptr;
    }
    --next.left; // now: the program may leave the call by a jump
    return thread;
}

/// The call was unsuccessful, so it stays counted. Returns false if what happened in it has ended the run, or will.
[[gnu::always_inline]] inline bool end_expected_poll(Thread& thread, const void* frame) noexcept {
    const ExpectedPoll& next = thread.phases.time().polls().next;
    if (next.frame != reinterpret_cast<std::uintptr_t>(frame)) [[unlikely]]
        return false;
    ++thread.paths_repeated;
    std::atomic_signal_fence(std::memory_order_seq_cst); // until here, calls of the application's signal handlers are nested ones
    thread.call_depth = 0;
    return true;
}

} // namespace libprofile
