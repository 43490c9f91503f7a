#include "libprofile/events/mpi_events.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/base/unseen_cost.hpp"
#include "libprofile/events/traced_wait.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/event_path.hpp"
#include "libprofile/thread/noted_event.hpp"
#include "libprofile/thread/thread.hpp"

namespace libprofile {

namespace {

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
/// the time loop is in the way, which may note the call: its path in `noted`, of `set`.
[[gnu::always_inline]] inline bool MpiEvent::begins_plainly(Thread& thread, unsigned function_id, void* return_address, std::uintptr_t frame, KnownPath*& noted,
                                                            std::uint32_t& set) noexcept {
    if (!thread.is_ready() || thread.cheap_event.is_next_due()) [[unlikely]]
        return false;
    KnownPathTable& paths = thread.known_paths;
    if (paths.is_empty()) [[unlikely]]
        return false;
    set = paths.set_of(return_address, frame, 0, own_mark().node); // paths through Python functions take more than this
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
        std::uint32_t set = 0;
        const bool is_plain = begins_plainly(*thread, function_id, return_address, reinterpret_cast<std::uintptr_t>(frame), noted, set);
        if (noted != nullptr) [[unlikely]]
            return begin_noted(*thread, *noted, set, function_id, return_address, frame);
        leave_tool_last(*thread);
        if (is_plain) [[likely]]
            return;
    }
    begin_in_full(function_id, return_address, frame);
}

/// The same while a time loop is looked for, with the in-tool flag set.
[[gnu::hot, gnu::noinline]] void MpiEvent::begin_noted(Thread& thread, KnownPath& path, std::uint32_t set, unsigned function_id, void* return_address,
                                                       void* frame) noexcept {
    LoopWatch* const loops = thread.loops;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    const OwnCost* const cost = loops != nullptr ? loops->quick_cost() : nullptr;
    if (cost == nullptr || cost->typical() == 0 || !loops->begin_quickly(thread, path, own_frame)) [[unlikely]] {
        leave_tool_last(thread);
        return begin_in_full(function_id, return_address, frame);
    }
    thread.known_paths.pass(set, path);
    RunningCall& call = take(thread, path, function_id, return_address, own_frame);
    state_ = {.is_plain = true, .is_looked_at = true, .is_noted = true};
    const std::uint64_t ticks = processor_ticks();
    call.start = session_clock.at(ticks);
    loops->set_begin(thread, call.start, ticks);
    leave_tool_last(thread);
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
    const std::uint32_t iterations = phases.iterations().work_before_wait(static_cast<std::uint32_t>(typical_ns));
    if (iterations != 0 || (state_.is_noted && thread_->loops->has_notes(typical_ns))) do_pending_work(iterations);
}

/// As if the call had come later by what the work takes.
[[gnu::cold]] void MpiEvent::do_pending_work(std::uint32_t iterations) noexcept {
    const InTool guard;
    if (guard.is_nested() || thread_->finished) return;
    RunningCall& call = thread_->calls[0];
    const std::uint64_t begin = call.start;
    if (call.cpu_start != 0) thread_->mark_cpu(begin, call.cpu_start);
    count_until_now(*thread_);
    if (iterations != 0) thread_->phases.iterations().do_pending_work();
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
    if (iterations != 0) thread_->phases.iterations().learn_work(own, iterations);
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
    if (state_.is_poll) [[unlikely]] {
        if (state_.repeats) {
            path_ = nullptr; // what follows a poll is expected by the first of the run
            PollRun& run = thread_->phases.time().polls();
            if (run.path != nullptr) ++thread_->paths_repeated;
            if (run.give_back(row_))
                ++(*row_)[Metric::Visits];
            else
                --row_->chance_visits;
        }
        return;
    }
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
