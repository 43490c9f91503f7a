// What events of OpenMP have in common: their row, what libprofile itself takes around them, and a thread's waiting.
// Contract: for the calling thread, with its in-tool flag set, except where a location is closed (close_openmp()); not in signal handlers;
// memory from the thread's arena. Inline is what each parallel region needs.
#pragma once

#include "libprofile/base/process_state.hpp"
#include "libprofile/events/openmp_constructs.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/phases/phase_log.hpp"
#include "libprofile/thread/event_path.hpp"
#include "libprofile/thread/recording.hpp"

namespace libprofile {

/// Returns the calling thread's location, opened if it has none yet; nullptr if it cannot have one. The in-tool flag need not be set.
Thread* open_location() noexcept;
inline Thread* own_location() noexcept {
    Thread* thread = thread_local_block.thread;
    return thread != nullptr ? thread : open_location();
}
/// Whether something may be booked for the calling thread.
inline bool records(Thread& thread) noexcept { return !thread.is_silent() || waking_thread() != nullptr; }

/// What libprofile takes at an event: measured at some of them, estimated at the others.
class OwnTime {
  public:
    OwnTime(Thread& thread, OwnCost& cost) noexcept : thread_(thread), cost_(cost), is_due_(cost.is_due()) {
        if (is_due_) [[unlikely]]
            began_at_ = session_clock.now();
    }
    /// For an event that has read the clock.
    OwnTime(Thread& thread, OwnCost& cost, std::uint64_t now) noexcept : thread_(thread), cost_(cost), is_due_(cost.is_due()), began_at_(now) {}
    /// What comes is not what it usually is.
    void is_unusual() noexcept { is_due_ = is_unusual_ = true; }
    /// `until`: a reading of the clock at the end, if there is one; else 0.
    void book(std::uint64_t until = 0) noexcept {
        if (!is_due_) [[likely]]
            return thread_.phases.time().book_overhead(cost_.typical());
        if (until == 0) until = session_clock.now();
        const std::uint64_t spent = thread_.own_time(began_at_, until);
        if (!is_unusual_) cost_.learn(spent);
        thread_.phases.time().book_overhead(spent);
    }

  private:
    Thread& thread_;
    OwnCost& cost_;
    bool is_due_;
    bool is_unusual_ = false;
    std::uint64_t began_at_ = 0;
};

/// Counts a visit. Returns the row.
inline Row& visit(Thread& thread, Row& row, bool is_random) noexcept {
    if (!row.is_event) [[unlikely]]
        row.is_event = true;
    ++row[Metric::Visits];
    if (is_random) ++row.chance_visits;
    if (thread.loops != nullptr) [[unlikely]]
        thread.loops->add_event(thread, row.node, 1, is_random ? 1 : 0, 0);
    return row;
}

/// A run of unsuccessful polls ends where something else happens.
inline void end_polls(Thread& thread) noexcept {
    if (thread.phases.time().polls().site != nullptr) [[unlikely]]
        thread.phases.time().end_polls(session_clock.now());
}

/// find_row() where something is not as at the last such event. `path`: what is known of it, or nullptr.
Row& find_changed_row(Thread& thread, OpenMpConstruct construct, const void* return_address, std::uintptr_t frame, KnownPath* path,
                      std::uint32_t*& typical) noexcept;

/// The row of an event at `frame`, and how long such events usually last.
inline Row& find_row(Thread& thread, OpenMpConstruct construct, const void* return_address, std::uintptr_t frame, std::uint32_t*& typical) noexcept {
    see_returns(thread);
    KnownPath* path = find_known_path(thread, function_of(construct), return_address, frame);
    if (path == nullptr || path->row_generation != thread.phases.row_generation() || thread.paths.is_to_be_checked()) [[unlikely]]
        return find_changed_row(thread, construct, return_address, frame, path, typical);
    typical = &path->typical_ns;
    return *path->row;
}

/// The same where the node is known.
inline Row& row_of(Thread& thread, RememberedRow& known, NodeId node) noexcept {
    if (known.generation != thread.phases.row_generation()) [[unlikely]]
        known = {&thread.phases.row(node), thread.phases.row_generation()};
    return *known.row;
}

/// Nothing else is running on the thread, seen from a frame of its stack.
inline bool is_outside_calls(Thread& thread, std::uintptr_t frame) noexcept {
    if (thread.call_depth == 0) [[likely]]
        return true;
    thread.drop_ended_calls(frame);
    return thread.call_depth == 0;
}

/// The beginning of a wait that usually lasts: the thread's CPU time. Counters until then are not the wait's.
std::uint64_t begin_long_wait(Thread& thread) noexcept;

/// The wait begins with the caller's next reading of the clock, for Thread::calls[0].start.
inline void begin_wait(Thread& thread, Row& row, std::uint32_t* typical, std::uintptr_t frame, void* return_address) noexcept {
    RunningCall& call = thread.calls[0];
    call.row = &row;
    call.typical_ns = typical;
    call.inner = 0;
    call.begins_at(frame, return_address);
    call.cpu_start = 0;
    thread.openmp.wait.node = row.node;
    if (*typical >= long_event_ns) [[unlikely]]
        call.cpu_start = begin_long_wait(thread);
    thread.call_depth = 1;
}

/// Whether the thread works for the main one and has not seen all of its phases.
inline bool is_behind(const OpenMpState& state) noexcept { return state.is_worker && state.phases_seen != main_phases.count(); }

/// What the main thread has begun and ended since the thread came by, at `now`, when the thread does not wait.
void follow_phases(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;

/// The thread's wait was over at `end`: an event of the iteration. Only while Thread::orders.
void note_wait(Thread& thread, std::uint64_t end) noexcept;

/// When what a worker waits for at the end of its share was over, as far as that is known.
inline std::uint64_t end_of_region(const OpenMpWait& wait) noexcept {
    return wait.master != nullptr ? wait.master->openmp.ended.end_of(wait.region) : EndedRegions::never;
}

/// end_wait() of any wait. `cpu_now`: of the thread, if it is not the calling one; else 0.
void end_any_wait(Thread& thread, std::uint64_t now, std::uint64_t over, std::uint64_t cpu_now = 0) noexcept;

/// The thread goes on. `over`: when what it waited for was over (end_of_region()); since then it was idle. `never`: it was not idle.
inline void end_wait(Thread& thread, std::uint64_t now, std::uint64_t over) noexcept {
    RunningCall& call = thread.calls[0];
    OpenMpState& state = thread.openmp;
    const std::uint64_t own = now - call.start - call.inner;
    if (own >= long_event_ns || call.cpu_start != 0 || is_behind(state) || thread.phases.time().is_paused()) [[unlikely]]
        return end_any_wait(thread, now, over); // also where time went backwards
    std::uint64_t waited = own;
    if (over != EndedRegions::never) {
        waited = over > call.start ? over - call.start : 0;
        if (waited > own) waited = own;
        if (own != waited) {
            if (state.idle_row.generation != thread.phases.row_generation()) [[unlikely]]
                return end_any_wait(thread, now, over);
            (*state.idle_row.row)[Metric::Time] += own - waited;
        }
    }
    (*call.row)[Metric::Time] += waited;
    thread.phases.time().book_event(own, own);
    if (thread.loops != nullptr) [[unlikely]]
        thread.loops->add_event(thread, state.wait.node, 0, 0, own);
    learn_duration(*call.typical_ns, own);
    thread.call_depth = 0;
    if (thread.listeners.any()) [[unlikely]]
        note_wait(thread, call.start + waited);
    state.wait = {};
}

} // namespace libprofile
