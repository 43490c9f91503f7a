// The part of an MpiEvent that begins a call which is not plain: on a path or a row that is not known yet, inside of another call, or looked at by the
// search for the time loop.
#include "libprofile/events/mpi_events.hpp"

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/loops/iteration_point.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/mpi/binding_helpers.hpp"
#include "libprofile/mpi/mpi_modules.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/regions/sleds.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/event_path.hpp"
#include "libprofile/thread/noted_event.hpp"
#include "libprofile/thread/recording.hpp"
#include "libprofile/thread/thread_registry.hpp"

namespace libprofile {

namespace {

/// The beginning of a call that usually lasts: the thread's CPU time. Counters until then are not the call's.
[[gnu::cold, gnu::noinline]] std::uint64_t begin_long_call(Thread& thread, std::uint32_t level) noexcept {
    if (thread.counters.is_on()) {
        if (level == 0 || thread.calls[level - 1].cpu_start == 0) // at the begin of the outer call nothing was read: what came before it is not its own
            count_for_phase(thread);
        else
            count_for(thread, *thread.calls[level - 1].row);
        if (level == 0) begin_counts(thread);
    }
    return thread_cpu_time();
}

/// Whether a call that took `typical_ns` so far (0: never made) will last. MPI_Init does so at its first and only call.
bool is_usually_long(unsigned function_id, std::uint32_t typical_ns) noexcept {
    return typical_ns >= long_event_ns || (typical_ns == 0 && mpi_functions[function_id].category == TimeCategory::MpiInitExit);
}

/// Calls may begin iterations: the search looks for a loop, or the iteration point is a call or not found yet.
bool is_any_followed(const Thread& thread) noexcept {
    return (thread.loops != nullptr && thread.loops->is_on()) || iteration_point.is_call() || (iteration_point.is_wanted() && thread.index == 0);
}

} // namespace

/// What the thread remembers of the call site.
CallSite& MpiEvent::call_site(Thread& thread, unsigned function_id, const void* return_address) noexcept {
    CallSite& site = thread.sites[short_hash(reinterpret_cast<std::uintptr_t>(return_address), 7)];
    static_assert(Thread::known_sites == 1u << 7);
    if (site.is_at(return_address, function_id, load_map.epoch())) [[likely]]
        return site;
    site.return_address = return_address;
    site.function_id = function_id;
    site.epoch = epoch_to_keep(load_map.epoch());
    site.polls = {};
    site.is_helper = is_binding_helper_call(mpi_functions[function_id].name, return_address);
    if (!process.records_call_paths()) site.function_node = thread.tree.child(0, NodeKind::Mpi, function_id, 0);
    return site;
}

/// The call begins, now that its row is known.
[[gnu::always_inline]] inline void MpiEvent::open(Thread& thread, void* return_address, std::uintptr_t frame) noexcept {
    RunningCall& call = thread.calls[state_.level];
    thread_ = &thread;
    if (!row_->is_event) [[unlikely]]
        row_->is_event = true;
    call.row = row_;
    call.inner = process_state.clock_reading_ns;
    call.begins_at(frame, return_address);
    call.cpu_start = 0;
    if (is_usually_long(function_id_, *call.typical_ns)) [[unlikely]]
        call.cpu_start = begin_long_call(thread, state_.level);
    thread.call_depth = state_.level + 1;
    if (state_.is_noted) [[unlikely]] {
        const std::uint64_t ticks = processor_ticks();
        call.start = session_clock.at(ticks);
        thread.loops->set_begin(thread, call.start, ticks);
    } else {
        call.start = session_clock.now();
    }
    if (state_.level != 0) [[unlikely]] {
        thread.calls[state_.level - 1].inner += call.start - entered_;
        thread.phases.time().polls().disturb();
    } else if (thread.phases.time().polls().site != nullptr) [[unlikely]] {
        thread.phases.time().end_polls(state_.is_measured ? entered_ : call.start);
    }
    if (state_.is_measured && call.start - entered_ >= long_event_ns) [[unlikely]]
        entered_ = call.start - thread.own_time(entered_, call.start);
}

[[gnu::noinline]] void MpiEvent::begin_in_full(unsigned function_id, void* return_address, void* frame) noexcept {
    clear();
    path_ = nullptr;
    function_id_ = function_id;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (!process.recording() && !begins_to_record(return_address, own_frame)) [[unlikely]]
        return;
    const InTool guard;
    // A signal handler of the application has interrupted us and calls MPI: nothing here may be entered twice.
    if (guard.is_nested()) [[unlikely]]
        return leave_uncounted(return_address);
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || thread->is_silent()) [[unlikely]] {
        thread = waking_thread();
        if (thread == nullptr) return leave_uncounted(return_address);
    }
    if (thread->call_depth != 0 && is_nested_call(*thread, return_address, own_frame)) [[unlikely]] {
        if (thread_ == nullptr) return leave_uncounted(return_address);
    } else {
        if (thread->phases.time().polls().site != nullptr) [[unlikely]] {
            if (continues_polls(*thread, function_id, return_address, own_frame)) return;
        }
        if (thread->cheap_event.is_due()) [[unlikely]] {
            state_.is_measured = true;
            entered_ = session_clock.now();
        }
    }
    RunningCall& call = thread->calls[state_.level];
    KnownPath* path = find_known_path(*thread, function_id, return_address, own_frame);
    if (path != nullptr && !thread->paths.is_to_be_checked()) [[likely]] {
        path_ = path;
        state_.is_cheap = state_.level == 0;
        if (path->row_generation != thread->phases.row_generation()) [[unlikely]] {
            if (!begins_quickly(*thread, *path, own_frame)) find_row(*thread, *path, own_frame);
        }
        row_ = path->row;
        call.typical_ns = &path->typical_ns;
    } else if (!find_path(*thread, path, function_id, return_address, own_frame)) {
        thread_ = nullptr;
        return;
    }
    ++(*row_)[Metric::Visits];
    open(*thread, return_address, own_frame);
}

/// The call is none of ours. If it is the application's, what other ranks count of it is missing here.
[[gnu::cold]] void MpiEvent::leave_uncounted(void* return_address) noexcept { state_.unrecorded = !is_mpi_library_address(return_address); }

/// An operation counts inside of a counted call only. It is no visit: MPI calls it, and how often is not the program's choice.
[[gnu::noinline]] void MpiEvent::begin_operation(void* return_address, void* frame) noexcept {
    clear();
    path_ = nullptr;
    function_id_ = user_operation;
    if (!process.recording()) return;
    const InTool guard;
    Thread* const thread = guard.is_nested() ? nullptr : thread_local_block.thread;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (thread == nullptr || thread->is_silent() || thread->call_depth == 0) return;
    if (!is_nested_call(*thread, return_address, own_frame) || thread_ == nullptr) return;
    if (find_operation(*thread, own_frame))
        open(*thread, return_address, own_frame);
    else
        thread_ = nullptr;
}

/// While nothing is recorded: true if that begins with this call.
[[gnu::cold]] bool MpiEvent::begins_to_record(void* return_address, std::uintptr_t frame) noexcept {
    if (process.state() == SessionState::Idle) session.start();
    if (process.recording()) return true;
    if (process.measuring()) {
        leave_uncounted(return_address);
        follow_unrecorded_call(frame);
    }
    return false;
}

/// A call while others run, which may have been left. Returns true if it is inside them; then it counts if thread_ is set.
[[gnu::cold]] bool MpiEvent::is_nested_call(Thread& thread, void* return_address, std::uintptr_t frame) noexcept {
    thread.drop_ended_calls(frame);
    state_.level = thread.call_depth;
    if (state_.level == 0) return false;
    state_.is_measured = true;
    entered_ = session_clock.now();
    const bool is_applications = function_id_ == user_operation || !is_mpi_library_address(return_address); // else MPI calls itself
    if (state_.level != Thread::max_calls && is_applications) thread_ = &thread;
    return true;
}

/// While a loop is looked for: true if the call is noted, and need not be looked at now.
bool MpiEvent::begins_quickly(Thread& thread, KnownPath& path, std::uintptr_t frame) noexcept {
    if (state_.level != 0 || !LoopWatch::is_learned(path.row_generation) || thread.loops == nullptr) return false;
    const OwnCost* cost = thread.loops->quick_cost();
    if (!state_.is_measured && cost != nullptr && cost->typical() == 0) [[unlikely]] {
        state_.is_measured = true;
        entered_ = session_clock.now();
    }
    if (!thread.loops->begin_quickly(thread, path, frame)) return false;
    state_.is_noted = state_.is_looked_at = true;
    state_.is_cheap = false; // not what such a call usually costs
    return true;
}

/// The row of a known path, of the interval that runs: at the first call on it in each iteration. As long as loops are looked for, calls come here that
/// were not noted.
void MpiEvent::find_row(Thread& thread, KnownPath& path, std::uintptr_t frame) noexcept {
    LoopWatch* const loops = state_.level == 0 ? thread.loops : nullptr;
    const auto stay = loops == nullptr ? LoopWatch::Stay::Unknown : loops->stay_of(thread, path.node, frame);
    const bool is_followed = stay == LoopWatch::Stay::Unknown && is_any_followed(thread) && follow(thread, path.node, frame, false);
    path.row = &thread.phases.row(path.node);
    if (stay == LoopWatch::Stay::Now)
        path.row_generation = 0; // asked again at the next call
    else
        path.row_generation = !is_followed ? thread.phases.row_generation() : loops != nullptr ? loops->learn(thread, path.node, path.row_generation) : 0;
}

/// A call on the path of `node` may begin a pass of the time loop. Returns true if the next one on this path may, too.
[[gnu::cold]] bool MpiEvent::follow(Thread& thread, NodeId node, std::uintptr_t frame, bool is_walked) noexcept {
    if (!process.rank_is_known()) return true;
    if (state_.level != 0) {
        if (thread.loops != nullptr) thread.loops->begin_nested_call(thread, node, state_.level);
        return true;
    }
    if (thread.loops == nullptr && !iteration_point.is_wanted() && !iteration_point.is_at(thread.tree, node)) return false;
    if (!state_.is_measured) {
        state_.is_measured = true;
        entered_ = session_clock.now();
    }
    state_.is_cheap = false;                                      // not what such a call usually costs
    if (thread.loops == nullptr && iteration_point.is_wanted()) { // also on paths that are known: a plugin may come between two steps
        iteration_point.look_for_new();
        if (!iteration_point.is_at(thread.tree, node)) return iteration_point.is_wanted();
    }
    state_.is_looked_at = thread.loops != nullptr;
    const std::uint64_t generation = thread.phases.row_generation();
    bool is_followed = true;
    if (thread.loops != nullptr)
        is_followed = thread.loops->begin_call(thread, node, frame, entered_, is_walked);
    else
        iteration_point.passed_by_call(thread, entered_);
    if (thread.phases.row_generation() == generation) return is_followed;
    // An iteration has begun or ended; what that took belongs to no call.
    const std::uint64_t now = session_clock.now();
    thread.phases.time().book_overhead(thread.own_time(entered_, now));
    if (thread.index == 0) keep_iterations(thread, frame);
    entered_ = session_clock.now();
    return is_followed;
}

/// Row, and typical duration, of a call whose path is not known; without call paths; or, with `known`, to be checked. False: the
/// call is none of the application's.
[[gnu::noinline]] bool MpiEvent::find_path(Thread& thread, KnownPath* known, unsigned function_id, void* return_address, std::uintptr_t frame) noexcept {
    const CallSite& site = call_site(thread, function_id, return_address);
    if (site.is_helper) return false;
    NodeId node = site.function_node;
    bool is_walked = false;
    state_.is_cheap = state_.level == 0;
    if (known != nullptr) {
        node = thread.paths.check_call(*known, frame);
    } else if (process.records_call_paths()) {
        state_.is_cheap = false;
        if (!state_.is_measured) {
            state_.is_measured = true;
            entered_ = session_clock.now();
        }
        known = walk_to_event(thread, NodeKind::Mpi, function_id, return_address, frame, node);
        is_walked = true;
        iteration_point.look_for_new(); // libraries may have come
        sleds.look_for_new();
    }
    if (is_any_followed(thread)) [[unlikely]]
        follow(thread, node, frame, is_walked);
    path_ = known;
    row_ = &thread.phases.row(node);
    thread.calls[state_.level].typical_ns = known != nullptr ? &known->typical_ns : &thread.tree[node].typical_ns;
    return true;
}

/// An operation is below the function that makes the call which it is for: what lies between is the MPI library's. False: that call is not counted.
[[gnu::cold]] bool MpiEvent::find_operation(Thread& thread, std::uintptr_t frame) noexcept {
    const Row* const outer = thread.calls[state_.level - 1].row;
    if (outer == nullptr) return false;
    const NodeId node = thread.tree.child(thread.tree[outer->node].parent, NodeKind::Mpi, user_operation, 0);
    if (is_any_followed(thread)) follow(thread, node, frame, false);
    row_ = &thread.phases.row(node);
    thread.calls[state_.level].typical_ns = &thread.tree[node].typical_ns;
    return true;
}

} // namespace libprofile
