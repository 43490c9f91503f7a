#include "libprofile/events/mpi_events.hpp"

#include "libprofile/base/hashing.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/base/unseen_cost.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/events/traced_wait.hpp"
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

/// What the thread remembers of the call site.
CallSite& call_site(Thread& thread, unsigned function_id, const void* return_address) noexcept {
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

/// When a call was over whose end was read as `end`.
std::uint64_t without_reading(const RunningCall& call, std::uint64_t end) noexcept {
    const std::uint64_t wall = end - call.start, reading = process_state.clock_reading_ns;
    return call.start + (wall > reading ? wall - reading : 0);
}

/// What note_call() does if not only the trace of events listens, or counters were read at the call's begin.
[[gnu::noinline]] void note_call_in_full(Thread& thread, unsigned function_id, std::uint32_t level, std::uint64_t end) noexcept {
    const RunningCall& call = thread.calls[level];
    note_event(thread, mpi_functions[function_id].trait, call.row->node, call.start, without_reading(call, end) - call.start);
    if (call.cpu_start != 0 && level == 0) note_counts(thread, call.row->node);
}

/// A call that was over at `end` is an event of the iteration. Not inlined: when no order is kept, nothing of it must take registers.
[[gnu::hot, gnu::noinline, gnu::aligned(64)]] void note_call(Thread& thread, unsigned function_id, std::uint32_t level, std::uint64_t end) noexcept {
    const RunningCall& call = thread.calls[level];
    if (thread.listeners.order || call.cpu_start != 0) [[unlikely]]
        return note_call_in_full(thread, function_id, level, end);
    if (mpi_functions[function_id].trait != MpiTrait::poll) [[likely]]
        thread.events->add(call.row->node, call.start, without_reading(call, end));
}

/// Calls may begin iterations: the search looks for a loop, or the iteration point is a call or not found yet.
bool is_any_followed(const Thread& thread) noexcept {
    return (thread.loops != nullptr && thread.loops->is_on()) || iteration_point.is_call() || (iteration_point.is_wanted() && thread.index == 0);
}

} // namespace

// The constructor, stop() and the destructor run for every MPI call, mostly with cold caches (process_state.hpp): what is not
// needed for a call on a known path is kept out of them.

/// A call on a known path, whose row is that of the path. Its start is still to be read.
[[gnu::always_inline]] inline RunningCall& MpiEvent::take(Thread& thread, KnownPath& path, unsigned function_id, void* return_address,
                                                          std::uintptr_t frame) noexcept {
    ++thread.paths_repeated;
    thread.cheap_event.pass();
    Row* const row = path.row;
    ++(*row)[Metric::Visits];
    RunningCall& call = thread.calls[0];
    call.row = row;
    call.typical_ns = &path.typical_ns;
    call.inner = process_state.clock_reading_ns;
    call.cpu_start = 0;
    call.begins_at(frame, return_address);
    thread.call_depth = 1;
    thread_ = &thread;
    row_ = row;
    function_id_ = function_id;
    path_ = &path;
    if (thread.listeners.trace) [[unlikely]]
        thread.events->expect();
    return call;
}

/// True, and all is done, if nothing about the call is unusual: a known path in a row that was used before, no other call or run of polls in between,
/// recording is on, and the call is neither measured nor looked at. Calls nothing, so it needs few registers and little code. If only the search for
/// the time loop is in the way, which may note the call: its path in `noted`.
[[gnu::always_inline]] inline bool MpiEvent::begins_plainly(Thread& thread, unsigned function_id, void* return_address, std::uintptr_t frame,
                                                            KnownPath*& noted) noexcept {
    if (!thread.is_ready() || thread.cheap_event.is_next_due()) [[unlikely]]
        return false;
    KnownPathTable& paths = thread.known_paths;
    if (paths.is_empty()) [[unlikely]]
        return false;
    const std::uint32_t set = paths.set_of(return_address, frame, 0, own_mark().node); // paths through Python functions take more than this
    KnownPath& path = paths.expected(set);
    if (!is_path_known(thread, path, function_id, return_address, frame, 0) || path.typical_ns >= long_event_ns || thread.paths.is_to_be_checked()) [[unlikely]]
        return false;
    // The call that has found the row made it that of an event.
    if (path.row_generation != thread.phases.row_generation()) [[unlikely]] {
        if (LoopWatch::is_learned(path.row_generation)) noted = &path;
        return false;
    }
    paths.pass(set, path);
    RunningCall& call = take(thread, path, function_id, return_address, frame);
    state_ = {.is_plain = true, .is_cheap = true};
    call.start = session_clock.now();
    return true;
}

[[gnu::hot]] void MpiEvent::begin(unsigned function_id, void* return_address, void* frame) noexcept {
    const ThreadLocal& local = thread_local_block;
    Thread* const thread = local.thread;
    if (process.recording() && thread != nullptr && local.in_tool == 0) [[likely]] {
        enter_tool_first(reinterpret_cast<std::uintptr_t>(this), *thread);
        KnownPath* noted = nullptr;
        const bool is_plain = begins_plainly(*thread, function_id, return_address, reinterpret_cast<std::uintptr_t>(frame), noted);
        if (noted != nullptr) [[unlikely]]
            return begin_noted(*thread, *noted, function_id, return_address, frame);
        leave_tool_last(*thread);
        if (is_plain) [[likely]]
            return;
    }
    begin_in_full(function_id, return_address, frame);
}

/// The same while a time loop is looked for, with the in-tool flag set.
[[gnu::hot, gnu::noinline]] void MpiEvent::begin_noted(Thread& thread, KnownPath& path, unsigned function_id, void* return_address, void* frame) noexcept {
    LoopWatch* const loops = thread.loops;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    KnownPathTable& paths = thread.known_paths;
    const std::uint32_t set = paths.set_of(return_address, own_frame, 0, own_mark().node); // before the mark moves
    const OwnCost* const cost = loops != nullptr ? loops->quick_cost() : nullptr;
    if (cost == nullptr || cost->typical() == 0 || !loops->begin_quickly(thread, path, own_frame)) [[unlikely]] {
        leave_tool_last(thread);
        return begin_in_full(function_id, return_address, frame);
    }
    paths.pass(set, path);
    RunningCall& call = take(thread, path, function_id, return_address, own_frame);
    state_ = {.is_plain = true, .is_looked_at = true, .is_noted = true};
    const std::uint64_t ticks = processor_ticks();
    call.start = session_clock.at(ticks);
    loops->set_begin(thread, call.start, ticks);
    leave_tool_last(thread);
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
        thread.phases.time().polls().is_disturbed = true; // what the run rests on may have been replaced
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

/// The row of a known path, of the interval that runs. As long as loops are looked for, calls come here that were not noted.
[[gnu::cold]] void MpiEvent::find_row(Thread& thread, KnownPath& path, std::uintptr_t frame) noexcept {
    const bool is_followed = is_any_followed(thread) && follow(thread, path.node, frame, false);
    path.row = &thread.phases.row(path.node);
    path.row_generation = !is_followed                                   ? thread.phases.row_generation()
                          : state_.level == 0 && thread.loops != nullptr ? thread.loops->learn(thread, path.node, path.row_generation)
                                                                         : 0;
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

/// CPU time of a call that began at `start` and was unexpectedly long. The thread slept in the call for what is missing.
std::uint64_t MpiEvent::cpu_of_long_call(std::uint64_t start, std::uint64_t own) noexcept {
    const std::uint64_t now_cpu = thread_cpu_time();
    const std::uint64_t cpu = now_cpu - thread_->cpu_until(start, now_cpu);
    thread_->mark_cpu(stopped_at_, now_cpu);
    return cpu < own ? cpu : own;
}

/// CPU time of a call that has lasted long, or usually does, and `own` ns without what is nested in it.
[[gnu::cold]] std::uint64_t MpiEvent::cpu_of_call(const RunningCall& call, std::uint64_t own) noexcept {
    if (state_.level == 0 && is_checkpoint_due(*thread_, stopped_at_)) state_.checkpoint_is_due = true;
    if (call.cpu_start == 0) return cpu_of_long_call(call.start, own);
    if (thread_->counters.is_on()) count_for(*thread_, *call.row);
    const std::uint64_t now_cpu = thread_cpu_time();
    const std::uint64_t used = now_cpu - call.cpu_start;
    thread_->mark_cpu(stopped_at_, now_cpu);
    const std::uint64_t cpu = used > call.inner ? used - call.inner : 0;
    return cpu < own ? cpu : own;
}

void MpiEvent::before_waiting() noexcept {
    if (row_ == nullptr || state_.level != 0 || state_.is_poll) return;
    PhaseStack& phases = thread_->phases;
    const std::uint64_t typical_ns = *thread_->calls[0].typical_ns;
    const bool is_time = phases.iterations().waits().is_time_for_work(static_cast<std::uint32_t>(typical_ns));
    if ((is_time && phases.iterations().has_pending_work()) || (state_.is_noted && thread_->loops->has_notes(typical_ns))) do_pending_work();
}

/// As if the call had come later by what the work takes.
[[gnu::cold]] void MpiEvent::do_pending_work() noexcept {
    const InTool guard;
    if (guard.is_nested() || thread_->finished) return;
    RunningCall& call = thread_->calls[0];
    const std::uint64_t begin = call.start;
    if (call.cpu_start != 0) thread_->mark_cpu(begin, call.cpu_start);
    count_until_now(*thread_);
    const bool has_iteration = thread_->phases.iterations().has_pending_work();
    thread_->phases.iterations().do_pending_work();
    if (state_.is_noted) thread_->loops->think(*thread_);
    count_own(*thread_);
    if (call.cpu_start != 0) begin_counts(*thread_);
    const std::uint64_t cpu = call.cpu_start != 0 ? thread_cpu_time() : 0;
    call.start = session_clock.now();
    const std::uint64_t spent = call.start - begin;
    if (state_.is_measured) entered_ += spent; // what the event itself costs is measured apart
    const std::uint64_t own = cpu != 0 ? thread_->own_time(begin, call.start, cpu) : thread_->own_time(begin, call.start);
    call.cpu_start = cpu;
    thread_->phases.time().book_overhead(own);
    if (has_iteration) thread_->phases.iterations().waits().learn(own);
    // The wait becomes shorter by that, but not the time that there is for it.
    const std::uint64_t longer = *call.typical_ns + spent / 4;
    *call.typical_ns = longer < UINT32_MAX ? static_cast<std::uint32_t>(longer) : UINT32_MAX;
}

[[gnu::hot]] void MpiEvent::stop() noexcept {
    Thread* const thread = thread_;
    if (thread == nullptr) [[unlikely]]
        return;
    if (state_.is_plain && thread_local_block.in_tool == 0) [[likely]] {
        enter_tool_first(reinterpret_cast<std::uintptr_t>(this), *thread);
        stopped_at_ = session_clock.now();
        RunningCall& call = thread->calls[0];
        const std::uint64_t wall = stopped_at_ - call.start, inner = call.inner, own = wall > inner ? wall - inner : 0;
        if (wall < long_event_ns && call.cpu_start == 0 && !thread->finished) [[likely]] {
            state_.is_stopped = true;
            thread->call_depth = 1; // nested calls that were left without returning
            learn_duration(*call.typical_ns, own);
            (*row_)[Metric::Time] += own;
            thread->phases.time().book_event(own, own);
            if (thread->listeners.any()) [[unlikely]]
                return note_call(*thread, function_id_, 0, stopped_at_);
            return;
        }
        leave_tool_last(*thread);
    }
    stop_in_full();
}

[[gnu::noinline]] void MpiEvent::stop_in_full() noexcept {
    state_.is_plain = false;
    // The flag stays set until the destructor: accounting is libprofile's own time.
    in_tool_before_ = enter_tool(reinterpret_cast<std::uintptr_t>(this));
    state_.is_stopped = true;
    if (!state_.is_poll || state_.is_timed) [[likely]]
        stopped_at_ = session_clock.now();
    if (thread_->finished) [[unlikely]] { // the job ended while this thread was in here
        row_ = nullptr;
        return;
    }
    thread_->call_depth = state_.level + 1; // nested calls that were left without returning
    if (state_.is_poll) [[unlikely]]
        return;
    RunningCall& call = thread_->calls[state_.level];
    const std::uint64_t wall = stopped_at_ - call.start;
    const std::uint64_t own = wall > call.inner ? wall - call.inner : 0;
    std::uint64_t cpu = own;
    if (state_.level == 0 && wall >= long_event_ns) [[unlikely]] // with what is nested in it
        trace_wait(*thread_, call, row_->node, stopped_at_);
    if (call.cpu_start != 0 || own >= long_event_ns) [[unlikely]]
        cpu = cpu_of_call(call, own);
    learn_duration(*call.typical_ns, own);
    (*row_)[Metric::Time] += own;
    thread_->phases.time().book_event(own, cpu);
    if (thread_->listeners.any() && function_id_ != user_operation) [[unlikely]]
        note_call(*thread_, function_id_, state_.level, stopped_at_);
    if (state_.level != 0) [[unlikely]]
        thread_->calls[state_.level - 1].inner += wall;
}

void MpiEvent::message(MessageDirection direction, const Envelope& envelope, std::uint64_t bytes) noexcept {
    thread_->partners.count(row_->node, direction, envelope.partner, bytes, thread_->arena);
    if (thread_->listeners.trace) [[unlikely]]
        note_message(direction, envelope, bytes);
}

/// The call is over, but if it is a poll nobody has read the clock.
[[gnu::hot, gnu::noinline, gnu::flatten, gnu::aligned(64)]] void MpiEvent::note_message(MessageDirection direction, const Envelope& envelope,
                                                                                        std::uint64_t bytes) noexcept {
    const bool is_untimed = state_.is_poll && !state_.is_timed;
    const std::uint64_t end = is_untimed ? session_clock.now() : without_reading(thread_->calls[state_.level], stopped_at_);
    thread_->events->add_message(row_->node, is_untimed ? end : thread_->calls[state_.level].start, end, direction, envelope, bytes);
}

void MpiEvent::miss_message() noexcept { EventTrace::message_numbers().stop(); }

bool MpiEvent::keeps_events() const noexcept { return thread_ != nullptr && thread_->listeners.trace; }

[[gnu::hot, gnu::flatten, gnu::aligned(64)]] void MpiEvent::collective(std::uint32_t communicator) noexcept {
    const RunningCall& call = thread_->calls[state_.level];
    thread_->events->add_collective(row_->node, call.start, without_reading(call, stopped_at_), communicator);
}

void MpiEvent::miss_collective() noexcept { EventTrace::message_numbers().stop_collectives(); }

void MpiEvent::leave_out_of_signature() noexcept { ++row_->chance_visits; }

void MpiEvent::was_unsuccessful() noexcept {
    leave_out_of_signature();
    state_.unsuccessful = true;
}

void MpiEvent::count_lost_requests(std::uint64_t requests) const noexcept {
    thread_->requests_lost += requests;
    miss_message();
}

void MpiEvent::count_lost_operation() const noexcept {
    if (thread_ != nullptr) ++thread_->operations_lost;
}

void* MpiEvent::scratch(std::uint64_t bytes) const noexcept {
    if (row_ == nullptr) return nullptr;
    const InTool guard;
    Thread::Scratch& own = thread_->scratch[state_.level]; // a call that was left by longjmp leaves its level, and the pages with it
    if (bytes > own.size) {
        const std::uint64_t wanted = (bytes + bytes / 2 + 4095) & ~std::uint64_t{4095};
        if (own.pages != nullptr) memory_quota.unmap(own.pages, own.size);
        own.pages = memory_quota.map(wanted);
        own.size = own.pages == nullptr ? 0 : wanted;
    }
    return own.pages;
}

/// What a noted call costs; nullptr for others, or if the search has ended in the call.
OwnCost* MpiEvent::noted_cost() const noexcept { return state_.is_noted ? thread_->loops->quick_cost() : nullptr; }

/// Books our own time around a call that was measured for that.
[[gnu::cold]] void MpiEvent::learn_own_time() noexcept {
    const std::uint64_t now = session_clock.now();
    const std::uint64_t after = now - stopped_at_;
    const std::uint64_t seen = thread_->own_time(stopped_at_, now) + thread_->calls[state_.level].start - entered_;
    const std::uint64_t spent = seen + unseen_cost.call_ns;
    const std::uint64_t readings = 2 * process_state.clock_reading_ns; // a call that is not measured has two less
    if (is_checkpoint_due(*thread_, stopped_at_)) state_.checkpoint_is_due = state_.level == 0;
    thread_->phases.time().book_overhead(spent + readings);
    if (state_.is_cheap) thread_->cheap_event.learn(spent);
    if (thread_->loops != nullptr && thread_->loops->may_go_on(now)) thread_->loops->go_on(*thread_, now);
    if (OwnCost* noted = noted_cost()) noted->learn(spent);
    if (state_.level != 0) thread_->calls[state_.level - 1].inner += after + (spent - seen) + readings;
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

[[gnu::hot]] void MpiEvent::end() noexcept {
    Thread& thread = *thread_;
    if (!(state_.is_plain && state_.is_stopped && !state_.is_noted && !state_.unsuccessful) || thread.finished) [[unlikely]]
        return end_in_full();
    thread.call_depth = 0;
    thread.phases.time().book_overhead(thread.cheap_event.typical());
    KnownPathTable::expect_next(*path_);
    leave_tool_last(thread);
}

[[gnu::noinline]] void MpiEvent::end_in_full() noexcept {
    if (!state_.is_stopped) [[unlikely]]
        stop_in_full();
    if (!thread_->finished) [[likely]] {
        thread_->call_depth = state_.level;
        if (state_.is_poll) [[unlikely]]
            end_poll();
        else if (state_.is_measured) [[unlikely]]
            learn_own_time();
        else
            thread_->phases.time().book_overhead((noted_cost() != nullptr ? *noted_cost() : thread_->cheap_event).typical());
        if (state_.unsuccessful && !state_.is_poll) [[unlikely]]
            begin_polls();
        if (state_.checkpoint_is_due) [[unlikely]]
            write_due_checkpoint(*thread_, thread_->calls[0].frame);
        if (path_ != nullptr) [[likely]] {
            KnownPathTable::expect_next(*path_);
            if (state_.is_noted) [[unlikely]]
                thread_->loops->expect(path_->next->row_generation);
        }
    }
    leave_tool(state_.is_plain ? 0 : in_tool_before_);
}

} // namespace libprofile
