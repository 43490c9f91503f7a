// The part of an MpiEvent that begins and continues a run of unsuccessful polls (phases/poll_run.hpp).
#include "libprofile/events/mpi_events.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/events/poll_call.hpp"
#include "libprofile/thread/checkpoint_time.hpp"
#include "libprofile/thread/event_path.hpp"
#include "libprofile/thread/thread.hpp"

namespace libprofile {

/// One more of a run of unsuccessful polls, until proved otherwise: all but its time is as it was at the last one.
[[gnu::noinline]] bool MpiEvent::continues_polls(Thread& thread, unsigned function_id, void* return_address, std::uintptr_t frame) noexcept {
    PollRun& run = thread.phases.time().polls();
    const auto* site = static_cast<const CallSite*>(run.site);
    if (!site->is_at(return_address, function_id, load_map.epoch())) return false;
    const auto* path = static_cast<const KnownPath*>(run.path);
    if (path != nullptr && !is_path_known(thread, *path, function_id, return_address, frame, thread.paths.python_at(frame))) return false;
    if (thread.paths.is_to_be_checked()) [[unlikely]]
        return false;
    if (path != nullptr) ++thread.paths_repeated;
    thread_ = &thread;
    row_ = run.row;
    state_.is_poll = true;
    ++(*row_)[Metric::Visits];
    thread.calls[0].inner = process_state.clock_reading_ns;
    thread.calls[0].begins_at(frame, return_address);
    thread.call_depth = 1;
    state_.is_timed = run.is_due();
    if (state_.is_timed) thread.calls[0].start = session_clock.now();
    return true;
}

MpiEvent::MpiEvent(Polls, unsigned function_id, const PollCall& call) noexcept {
    if (call.thread == nullptr) {
        if (!begins_repeated_poll(function_id, call.return_address, call.frame)) begin(function_id, call.return_address, call.frame);
        return;
    }
    thread_ = call.thread;
    row_ = thread_->calls[0].row;
    state_ = {.is_poll = true, .repeats = true, .has_returned = true};
}

/// One more of a run that need not be timed: it is only counted. The in-tool flag is not set, so a signal handler of the application may call MPI at
/// any place. Before call_depth is written, such a call may end the run, and even begin another: so all is asked after that, when it is a nested one.
[[gnu::hot]] bool MpiEvent::begins_repeated_poll(unsigned function_id, const void* return_address, void* frame) noexcept {
    const ThreadLocal& local = thread_local_block;
    Thread* thread = local.thread;
    if (thread == nullptr || local.in_tool != 0 || thread->call_depth != 0) return false;
    PollRun& run = thread->phases.time().polls();
    if (run.next.left == 0) return false;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    run.next.frame = 0; // what it expected has changed: count_repeated() looks again
    RunningCall& call = thread->calls[0];
    Row* row = run.row;
    call.row = row;
    call.inner = 0;
    call.begins_at(own_frame, const_cast<void*>(return_address));
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread->call_depth = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const auto* path = static_cast<const KnownPath*>(run.path);
    const bool goes_on = run.next.left != 0 && run.goes_on(row) && !thread->finished && process.recording() &&
                         (path != nullptr ? path->python == 0 && is_path_known(*thread, *path, function_id, return_address, own_frame, 0)
                                          : static_cast<const CallSite*>(run.site)->is_at(return_address, function_id, load_map.epoch()));
    if (!goes_on) {
        thread->call_depth = 0;
        return false;
    }
    --run.next.left;
    thread_ = thread;
    row_ = row;
    state_ = {.is_poll = true, .repeats = true};
    return true;
}

/// The next such call is expected, if it can be.
void MpiEvent::count_repeated() noexcept {
    PollRun& run = thread_->phases.time().polls();
    if (!run.goes_on(row_) || thread_->finished) [[unlikely]] { // what happened in the call has ended the run, or will
        stop();
        if (counted()) was_unsuccessful();
        return;
    }
    if (const auto* path = static_cast<const KnownPath*>(run.path); path != nullptr) {
        ++thread_->paths_repeated;
        run.next.expect(*path, own_mark());
    }
    std::atomic_signal_fence(std::memory_order_seq_cst); // until here, calls of the application's signal handlers are nested ones
    thread_->call_depth = 0;
    thread_ = nullptr;
}

/// The end of such a poll. It is timed only now if it was successful, or is one of those that stand for the others.
[[gnu::noinline]] void MpiEvent::end_poll() noexcept {
    PollRun& run = thread_->phases.time().polls();
    RunningCall& call = thread_->calls[0];
    if (state_.repeats && (run.site == nullptr || run.row != row_)) return; // the run has ended in the call
    if (state_.is_timed) {
        const std::uint64_t wall = stopped_at_ - call.start;
        const std::uint64_t own = wall > call.inner ? wall - call.inner : 0;
        run.statistics->add(!state_.unsuccessful, own);
        if (state_.unsuccessful) {
            ++run.timed;
            run.timed_ns += own;
        }
        (*row_)[Metric::Time] += own;
        thread_->phases.time().book_event(own, own >= long_event_ns ? cpu_of_long_call(call.start, own) : own);
        thread_->phases.time().book_overhead(run.own_ns);
        state_.checkpoint_is_due = is_checkpoint_due(*thread_, stopped_at_);
    } else {
        ++(state_.unsuccessful ? run.untimed : run.found_untimed);
    }
    if (!state_.unsuccessful || run.is_disturbed) thread_->phases.time().end_polls(session_clock.now());
}

/// An unsuccessful poll that was timed may be the first of a run.
[[gnu::noinline]] void MpiEvent::begin_polls() noexcept {
    const RunningCall& call = thread_->calls[0];
    // The search for loops takes polls that follow each other as one.
    if (!(state_.is_cheap || (state_.is_looked_at && path_ != nullptr)) || *call.typical_ns >= long_event_ns) return;
    CallSite& site = call_site(*thread_, function_id_, call.return_address);
    WallLedger& time = thread_->phases.time();
    time.polls().begin(&site, path_, site.polls, *row_, stopped_at_, call.start + call.inner < stopped_at_ ? stopped_at_ - call.start - call.inner : 0,
                       thread_->cheap_event.typical(), time.booked().wall_ns());
}

} // namespace libprofile
