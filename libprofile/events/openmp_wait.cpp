#include "libprofile/events/openmp_wait.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/events/traced_wait.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/noted_event.hpp"
#include "libprofile/thread/thread_registry.hpp"

namespace libprofile {

namespace {

/// The node of the time between regions.
NodeId idle_node(Thread& thread) noexcept {
    OpenMpState& state = thread.openmp;
    if (state.idle == 0) [[unlikely]]
        state.idle = thread.tree.child(0, NodeKind::OpenMp, function_of(OpenMpConstruct::Idle), 0);
    return state.idle;
}

/// Books a part of a wait, `wall` ns from `from` on, of which it ran for `cpu` ns.
void book_part(Thread& thread, std::uint64_t from, std::uint64_t wall, std::uint64_t cpu, std::uint64_t over) noexcept {
    OpenMpState& state = thread.openmp;
    std::uint64_t waited = wall;
    if (over != EndedRegions::never && over < from + wall) waited = over > from ? over - from : 0;
    if (waited != 0) thread.phases.row(state.wait.node)[Metric::Time] += waited;
    if (wall != waited) {
        row_of(thread, state.idle_row, idle_node(thread))[Metric::Time] += wall - waited;
    }
    thread.phases.time().book_event(wall, cpu);
}

/// The next changes of the main thread's phases until `now`, for a thread that has waited since `from`: `wall` ns, of which it ran
/// for `cpu` ns. Without a wait `wall` is 0.
[[gnu::cold]] void follow_phases_in_wait(Thread& thread, std::uint64_t from, std::uint64_t now, std::uint64_t wall, std::uint64_t cpu, std::uint64_t cpu_now,
                                         std::uint64_t over) noexcept {
    OpenMpState& state = thread.openmp;
    for (const std::uint64_t count = main_phases.count(); state.phases_seen != count; ++state.phases_seen) {
        PhaseChange change;
        if (!main_phases.read(state.phases_seen, change)) {
            ++state.phases_missed;
            continue;
        }
        std::uint64_t at = change.at < from ? from : change.at > now ? now : change.at;
        const std::uint64_t part = at - from < wall ? at - from : wall;
        const std::uint64_t part_cpu = wall == 0 ? 0 : static_cast<std::uint64_t>(static_cast<unsigned __int128>(cpu) * part / wall);
        if (part != 0) book_part(thread, from, part, part_cpu, over);
        from = at;
        wall -= part;
        cpu -= part_cpu;
        if (at < thread.phases.time().earliest_end()) at = thread.phases.time().earliest_end();
        const std::uint64_t cpu_at = cpu_now > cpu ? cpu_now - cpu : 0;
        if (change.begins)
            thread.phases.begin(change.kind, change.name, at, cpu_at);
        else
            thread.phases.end_if_open(change.kind, change.name, at, cpu_at);
    }
    if (wall != 0) book_part(thread, from, wall, cpu, over);
}

/// Keeps a long wait in the trace: what was a wait, then what was idle time. The stack is looked at only if the wait still stands on it.
[[gnu::cold]] void trace_parts(Thread& thread, std::uint64_t now, std::uint64_t over, bool is_foreign) noexcept {
    const RunningCall& call = thread.calls[0];
    const std::uint64_t waited_until = over == EndedRegions::never || over > now ? now : over > call.start ? over : call.start;
    const bool stands = !is_foreign && is_own_stack(call.frame) && !thread.openmp.wait.may_be_over && call.is_in_place();
    if (stands)
        trace_wait(thread, call, thread.openmp.wait.node, waited_until);
    else
        trace_wait_apart(thread, thread.openmp.wait.node, call.start, waited_until);
    if (waited_until < now) trace_wait_apart(thread, idle_node(thread), waited_until, now);
}

/// The CPU time of a wait of `own` ns that ends now, when the thread has used `cpu_now`.
std::uint64_t cpu_of_wait(Thread& thread, const RunningCall& call, std::uint64_t own, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    std::uint64_t used = 0;
    if (call.cpu_start != 0) {
        const std::uint64_t all = cpu_now > call.cpu_start ? cpu_now - call.cpu_start : 0;
        used = all > call.inner ? all - call.inner : 0;
    } else {
        used = cpu_now - thread.cpu_until(call.start, cpu_now);
    }
    thread.mark_cpu(now, cpu_now);
    return used < own ? used : own;
}

} // namespace

[[gnu::cold, gnu::noinline]] Thread* open_location() noexcept {
    const InTool guard;
    return guard.is_nested() ? nullptr : thread_registry.current();
}

[[gnu::noinline]] Row& find_changed_row(Thread& thread, OpenMpConstruct construct, const void* return_address, std::uintptr_t frame, KnownPath* path,
                                        std::uint32_t*& typical) noexcept {
    const unsigned function = function_of(construct);
    NodeId node = 0;
    if (!process.records_call_paths()) [[unlikely]]
        node = thread.tree.child(0, NodeKind::OpenMp, function, 0);
    else if (path == nullptr)
        path = walk_to_event(thread, NodeKind::OpenMp, function, return_address, frame, node);
    else if (thread.paths.is_to_be_checked()) [[unlikely]]
        node = thread.paths.check_call(*path, frame);
    else
        node = path->node;
    if (path == nullptr || node != path->node) [[unlikely]] {
        typical = &thread.tree[node].typical_ns;
        return thread.phases.row(node);
    }
    path->row = &thread.phases.row(node);
    path->row_generation = thread.phases.row_generation();
    typical = &path->typical_ns;
    return *path->row;
}

[[gnu::cold, gnu::noinline]] std::uint64_t begin_long_wait(Thread& thread) noexcept {
    count_until_now(thread);
    begin_counts(thread);
    return thread_cpu_time();
}

/// What has come while the thread waited, where the beginning was read, too. It may have begun and ended phases meanwhile as the main thread
/// did; all of it then belongs to the phase in which the wait began.
[[gnu::cold]] static void count_for_wait(Thread& thread) noexcept {
    if (thread.phases.time().is_paused()) return count_for_phase(thread);
    count_for(thread, thread.phases.row(thread.openmp.wait.node));
}

[[gnu::noinline]] void note_wait(Thread& thread, std::uint64_t end) noexcept {
    const OpenMpWait& wait = thread.openmp.wait;
    if (wait.goes_on) return;
    const std::uint64_t begin = wait.began_at != 0 ? wait.began_at : thread.calls[0].start;
    note_event(thread, wait.node, begin, end > begin ? end - begin : 0);
    if (thread.calls[0].cpu_start != 0) note_counts(thread, wait.node);
}

void follow_phases(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    follow_phases_in_wait(thread, now, now, 0, 0, cpu_now, EndedRegions::never);
}

void end_any_wait(Thread& thread, std::uint64_t now, std::uint64_t over, std::uint64_t cpu_now) noexcept {
    OpenMpWait& wait = thread.openmp.wait;
    RunningCall& call = thread.calls[0];
    thread.call_depth = 0;
    const std::uint64_t wall = now > call.start ? now - call.start : 0;
    const std::uint64_t own = wall > call.inner ? wall - call.inner : 0;
    if (call.cpu_start != 0 && thread.counters.is_on()) count_for_wait(thread);
    const bool is_foreign = cpu_now != 0;
    if (own >= long_event_ns && thread.trace.is_on()) trace_parts(thread, now, over, is_foreign);
    const bool follows = is_behind(thread.openmp);
    std::uint64_t cpu = own;
    if (call.cpu_start != 0 || own >= long_event_ns || follows || is_foreign) [[unlikely]] {
        if (!is_foreign) cpu_now = thread_cpu_time();
        if (own >= long_event_ns || call.cpu_start != 0) cpu = cpu_of_wait(thread, call, own, now, cpu_now);
    }
    if (follows) [[unlikely]]
        follow_phases_in_wait(thread, call.start, now, own, cpu, cpu_now, over);
    else if (over == EndedRegions::never || thread.phases.time().is_paused()) {
        (*call.row)[Metric::Time] += own;
        thread.phases.time().book_event(own, cpu);
    } else {
        book_part(thread, call.start, own, cpu, over);
    }
    if (thread.loops != nullptr) [[unlikely]]
        thread.loops->add_event(thread, wait.node, 0, 0, own);
    learn_duration(*call.typical_ns, own);
    if (thread.listeners.any() && !thread.phases.time().is_paused()) note_wait(thread, over < now ? over : now);
    wait = {};
}

} // namespace libprofile
