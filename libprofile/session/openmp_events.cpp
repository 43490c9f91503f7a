#include "libprofile/session/openmp_events.hpp"

#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/phases/phase_log.hpp"
#include "libprofile/session/event_path.hpp"
#include "libprofile/session/process_state.hpp"
#include "libprofile/session/recording.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/session/thread_registry.hpp"

namespace libprofile {

constinit PhaseLog main_phases;

namespace {

constexpr bool in_signature[] = {
#define OMP(id, name, category, in_signature) in_signature,
#include "format/openmp.def"
#undef OMP
};

/// What libprofile takes at such a place, measured at some and taken for granted at the others.
class OwnTime {
  public:
    OwnTime(Thread& thread, OwnCost& cost) noexcept : thread_(thread), cost_(cost), is_due_(cost.is_due()) {
        if (is_due_) [[unlikely]] began_at_ = session_clock.now();
    }
    /// For a place that has read the clock.
    OwnTime(Thread& thread, OwnCost& cost, std::uint64_t now) noexcept
        : thread_(thread), cost_(cost), is_due_(cost.is_due()), began_at_(now) {}
    /// What comes is not what it usually is.
    void is_unusual() noexcept { is_due_ = is_unusual_ = true; }
    /// `until`: a reading of the clock at the end, if there is one; else 0.
    void book(std::uint64_t until = 0) noexcept {
        if (!is_due_) [[likely]] return thread_.phases.book_overhead(cost_.typical());
        if (until == 0) until = session_clock.now();
        const std::uint64_t spent = until - began_at_;
        if (!is_unusual_) cost_.learn(spent);
        thread_.phases.book_overhead(spent);
    }

  private:
    Thread& thread_;
    OwnCost& cost_;
    bool is_due_;
    bool is_unusual_ = false;
    std::uint64_t began_at_ = 0;
};

/// Counts a visit. Returns the row.
inline Row& visit(Thread& thread, Row& row, bool is_chance) noexcept {
    row.is_event = true;
    ++row[Metric::Visits];
    if (is_chance) ++row.chance_visits;
    if (thread.loops != nullptr) [[unlikely]] thread.loops->add_event(row.node, 1, is_chance ? 1 : 0, 0);
    return row;
}

/// The row of an event at `frame`, and how long such events usually last.
Row& find_row(Thread& thread, OpenMpConstruct construct, const void* return_address, std::uintptr_t frame, std::uint32_t*& typical) noexcept {
    const unsigned function = function_of(construct);
    NodeId node = 0;
    KnownPath* path = nullptr;
    if (!session.records_call_paths()) [[unlikely]] {
        node = thread.tree.child(0, NodeKind::OpenMp, function, 0);
    } else {
        path = find_known_path(thread, function, return_address, frame);
        if (path == nullptr) [[unlikely]]
            path = walk_to_event(thread, NodeKind::OpenMp, function, return_address, frame, node);
        else if (thread.paths.is_to_be_checked()) [[unlikely]]
            node = thread.paths.check_call(*path, frame);
        else
            node = path->node;
    }
    if (path == nullptr || node != path->node) [[unlikely]] {
        typical = &thread.tree[node].typical_ns;
        return thread.phases.row(node);
    }
    typical = &path->typical_ns;
    if (path->row_generation != thread.phases.row_generation() || path->row == nullptr) [[unlikely]] {
        path->row = &thread.phases.row(node);
        path->row_generation = thread.phases.row_generation();
    }
    return *path->row;
}

/// Nothing else is running on the thread, seen from a frame of its stack.
inline bool is_outside_calls(Thread& thread, std::uintptr_t frame) noexcept {
    if (thread.call_depth == 0) [[likely]] return true;
    thread.drop_left_calls(frame);
    return thread.call_depth == 0;
}

void begin_wait(Thread& thread, Row& row, std::uint32_t* typical, std::uintptr_t frame, void* return_address) noexcept {
    RunningCall& call = thread.calls[0];
    call.row = &row;
    call.typical_ns = typical;
    call.inner = 0;
    call.frame = frame;
    call.return_address = return_address;
    call.cpu_start = 0;
    thread.openmp.wait.node = row.node;
    if (*typical >= long_event_ns) [[unlikely]] call.cpu_start = thread_cpu_time();
    thread.call_depth = 1;
}

/// Books a part of a wait, `wall` ns from `from` on, of which it ran for `cpu` ns.
void book_part(Thread& thread, std::uint64_t from, std::uint64_t wall, std::uint64_t cpu, std::uint64_t over) noexcept {
    const OpenMpWait& wait = thread.openmp.wait;
    std::uint64_t waited = wall;
    if (over != EndedRegions::never && over < from + wall) waited = over > from ? over - from : 0;
    if (waited != 0) thread.phases.row(wait.node)[Metric::Time] += waited;
    if (wall != waited) {
        NodeId& idle = thread.openmp.idle;
        if (idle == 0) [[unlikely]] idle = thread.tree.child(0, NodeKind::OpenMp, function_of(OpenMpConstruct::Idle), 0);
        Row& row = thread.phases.row(idle);
        row[Metric::Time] += wall - waited;
        if (thread.openmp.last_share.generation == thread.phases.row_generation()) thread.openmp.last_share.idle = &row;
    }
    thread.phases.book_event(wall, cpu);
}

/// The next changes of the main thread's phases until `now`, for a thread that has waited since `from`: `wall` ns, of which it ran
/// for `cpu` ns. Without a wait `wall` is 0.
[[gnu::cold]] void follow_phases(Thread& thread, std::uint64_t from, std::uint64_t now, std::uint64_t wall, std::uint64_t cpu,
                                 std::uint64_t cpu_now, std::uint64_t over) noexcept {
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
        if (at < thread.phases.earliest_end()) at = thread.phases.earliest_end();
        const std::uint64_t cpu_at = cpu_now > cpu ? cpu_now - cpu : 0;
        if (change.begins)
            thread.phases.begin(change.kind, change.name, at, cpu_at);
        else
            thread.phases.end_if_open(change.kind, change.name, at, cpu_at);
    }
    if (wall != 0) book_part(thread, from, wall, cpu, over);
}

/// The CPU time of a wait of `own` ns that ends now, when the thread has used `cpu_now`.
std::uint64_t cpu_of_wait(Thread& thread, const RunningCall& call, std::uint64_t own, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    std::uint64_t used = 0;
    if (call.cpu_start != 0) {
        const std::uint64_t all = cpu_now > call.cpu_start ? cpu_now - call.cpu_start : 0;
        used = all > call.inner ? all - call.inner : 0;
    } else { // since the last reading the thread is taken to have run until it began to wait
        const std::uint64_t all = cpu_now > thread.cpu_mark ? cpu_now - thread.cpu_mark : 0;
        const std::uint64_t before = call.start > thread.cpu_mark_at ? call.start - thread.cpu_mark_at : 0;
        used = all > before ? all - before : 0;
    }
    thread.mark_cpu(now, cpu_now);
    return used < own ? used : own;
}

/// Whether the thread works for the main one and has not seen all of its phases.
inline bool is_behind(const OpenMpState& state) noexcept { return state.is_worker && state.phases_seen != main_phases.count(); }

/// When what a worker waits for at the end of its share was over, as far as that is known.
std::uint64_t end_of_region(const OpenMpWait& wait) noexcept {
    return wait.master != nullptr ? wait.master->openmp.ended.end_of(wait.region) : EndedRegions::never;
}

/// `over`: end_of_region(). `cpu_now`: of the thread, if it is not the calling one; else 0.
[[gnu::hot]] void end_wait(Thread& thread, std::uint64_t now, std::uint64_t over, std::uint64_t cpu_now = 0) noexcept {
    OpenMpWait& wait = thread.openmp.wait;
    RunningCall& call = thread.calls[0];
    thread.call_depth = 0;
    const std::uint64_t wall = now > call.start ? now - call.start : 0;
    const std::uint64_t own = wall > call.inner ? wall - call.inner : 0;
    const bool is_foreign = cpu_now != 0;
    const bool follows = is_behind(thread.openmp);
    std::uint64_t cpu = own;
    if (call.cpu_start != 0 || own >= long_event_ns || follows || is_foreign) [[unlikely]] {
        if (!is_foreign) cpu_now = thread_cpu_time();
        if (own >= long_event_ns || call.cpu_start != 0) cpu = cpu_of_wait(thread, call, own, now, cpu_now);
    }
    if (follows) [[unlikely]]
        follow_phases(thread, call.start, now, own, cpu, cpu_now, over);
    else if (over == EndedRegions::never || thread.phases.is_paused()) {
        (*call.row)[Metric::Time] += own;
        thread.phases.book_event(own, cpu);
    } else {
        book_part(thread, call.start, own, cpu, over);
    }
    if (thread.loops != nullptr) [[unlikely]] thread.loops->add_event(wait.node, 0, 0, own);
    learn_duration(*call.typical_ns, own);
    wait = {};
}

/// The call path of the region in the tree of a thread that works in it.
[[gnu::noinline]] JoinedPath& join(Thread& thread, const ParallelRegion& region) noexcept {
    const auto hash = (reinterpret_cast<std::uintptr_t>(region.master) ^ (std::uintptr_t{region.node} << 20)) * 0x9e3779b97f4a7c15u;
    JoinedPath& joined = thread.openmp.joined[hash >> 58];
    static_assert(OpenMpState::most_joined == 1u << (64 - 58));
    if (joined.master == region.master && joined.theirs == region.node) [[likely]] return joined;
    // Nodes of a tree never change nor move, and these were there before the region began.
    const CallTree& theirs = region.master->tree;
    constexpr std::uint32_t most = RawPath::capacity + 16;
    NodeId path[most];
    std::uint32_t size = 0;
    NodeId outermost = region.node;
    for (; outermost != 0 && size != most; outermost = theirs[outermost].parent) path[size++] = outermost;
    NodeId own = outermost == 0 ? 0 : thread.tree.partial();
    while (size != 0) {
        const Node& node = theirs[path[--size]];
        own = thread.tree.child(own, node.kind, node.a, node.b);
    }
    joined = {region.master, region.node, own, 0, 0};
    joined.barrier = thread.tree.child(own, NodeKind::OpenMp, function_of(OpenMpConstruct::ImplicitBarrier), 0);
    return joined;
}

/// A thread works for others for the first time.
[[gnu::cold]] void become_worker(Thread& thread) noexcept {
    thread.openmp.is_worker = true;
    if (thread.cpu_mark_at < thread.started_at) thread.mark_cpu(thread.started_at, 0);
}

/// The calling thread encounters a region that cannot be measured.
[[gnu::cold]] void refuse(Thread& thread, ParallelRegion& region) noexcept {
    ++thread.openmp.regions_refused;
    region.refused_by = thread.index + 1;
}

/// The worker has waited since its share of the region before, which was the same one, and nothing else has happened.
inline bool is_repeated(const Thread& thread, const ParallelRegion& region) noexcept {
    const OpenMpState& state = thread.openmp;
    const RepeatedShare& last = state.last_share;
    return last.master == region.master && last.region == region.node && last.idle != nullptr &&
           last.generation == thread.phases.row_generation() && state.wait.master == region.master &&
           state.wait.region + 1 == region.number && thread.call_depth == 1 && thread.calls[0].cpu_start == 0 &&
           state.phases_seen == main_phases.count() && !thread.is_silent() && session.recording();
}

/// begin_share() for that case. It is on the way of all threads of the team, which wait for the last one. False: not possible.
inline bool begin_repeated_share(Thread& thread, RegionShare& share, const ParallelRegion& region, std::uintptr_t boundary) noexcept {
    OpenMpState& state = thread.openmp;
    RunningCall& call = thread.calls[0];
    const std::uint64_t now = session_clock.now();
    const std::uint64_t own = now - call.start - call.inner;
    if (own >= long_event_ns) return false; // or time went backwards
    OwnTime own_time(thread, state.share_begin, now);
    std::uint64_t waited = region.last_end > call.start ? region.last_end - call.start : 0;
    if (waited > own) waited = own;
    (*state.last_share.barrier)[Metric::Time] += waited;
    (*state.last_share.idle)[Metric::Time] += own - waited;
    thread.phases.book_event(own, own);
    learn_duration(*call.typical_ns, own);
    thread.call_depth = 0;
    state.wait = {};
    if (!thread.paths.parallel().enter(boundary, state.joined_now->own, true)) {
        ++state.shares_refused;
        return true;
    }
    share.thread = &thread;
    share.boundary = boundary;
    own_time.book();
    return true;
}

} // namespace

bool openmp_is_recorded() noexcept { return session.recording(); }

void begin_refused_share() noexcept {
    const InTool guard;
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || guard.is_nested() || thread->finished) return;
    const OpenMpWait& wait = thread->openmp.wait;
    if (wait.node == 0 || wait.master == nullptr || thread->call_depth != 1) return;
    end_wait(*thread, session_clock.now(), end_of_region(wait));
}

[[gnu::hot]] void begin_region(ParallelRegion& region, const void* return_address, void* frame, void* boundary) noexcept {
    const InTool guard;
    if (guard.is_nested()) [[unlikely]] return;
    Thread* thread = recording_thread();
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (thread == nullptr) [[unlikely]] return;
    if (!is_own_stack(own_frame) || !is_outside_calls(*thread, own_frame)) [[unlikely]] return refuse(*thread, region);
    OwnTime own_time(*thread, thread->openmp.region_begin);
    if (thread->phases.polls().site != nullptr) [[unlikely]] thread->phases.end_polls(session_clock.now());
    std::uint32_t* typical = nullptr;
    Row& row = visit(*thread, find_row(*thread, OpenMpConstruct::Parallel, return_address, own_frame, typical), false);
    const auto outside = reinterpret_cast<std::uintptr_t>(boundary);
    if (!thread->paths.parallel().enter(outside, row.node, thread->paths.parallel().begins_in_runtime())) [[unlikely]]
        return refuse(*thread, region);
    // Frames of the runtime that were there before the region began, and go on inside of it, have nodes outside of it.
    if (outside != own_frame) thread->paths.forget_nodes();
    region.master = thread;
    region.node = row.node;
    region.number = ++thread->openmp.regions;
    if (thread->openmp.last_ended + 1 == region.number) region.last_end = thread->openmp.last_ended_at;
    region.boundary = outside;
    own_time.book();
}

[[gnu::hot]] void end_region(ParallelRegion& region) noexcept {
    Thread* thread = region.master;
    if (thread == nullptr) [[unlikely]] return;
    const InTool guard;
    const std::uint64_t now = session_clock.now();
    thread->paths.parallel().leave(region.boundary);
    if (thread->finished) [[unlikely]] return;
    OwnTime own_time(*thread, thread->openmp.region_end, now);
    const OpenMpWait& wait = thread->openmp.wait;
    if (wait.node != 0 && wait.region == region.number && thread->call_depth == 1) end_wait(*thread, now, EndedRegions::never);
    thread->openmp.ended.add(region.number, now);
    thread->openmp.last_ended = region.number;
    thread->openmp.last_ended_at = now;
    if (!thread->is_silent()) own_time.book();
}

[[gnu::hot]] void begin_share(RegionShare& share, const ParallelRegion& region, void* frame) noexcept {
    if (region.master == nullptr) [[unlikely]] {
        const Thread* own = thread_local_block.thread;
        if (region.refused_by != 0 && own != nullptr && region.refused_by != own->index + 1) begin_refused_share();
        return;
    }
    if (thread_local_block.thread == region.master) {
        share.thread = region.master;
        share.is_master = true;
        return;
    }
    const InTool guard;
    if (guard.is_nested()) [[unlikely]] return;
    Thread* thread = thread_local_block.thread;
    const auto boundary = reinterpret_cast<std::uintptr_t>(frame);
    if (thread != nullptr && is_repeated(*thread, region)) [[likely]] {
        if (begin_repeated_share(*thread, share, region, boundary)) return;
    }
    const std::uint64_t now = session_clock.now();
    if (thread == nullptr) [[unlikely]] thread = thread_registry.current();
    if (thread == nullptr || thread->finished) [[unlikely]] return;
    OpenMpState& state = thread->openmp;
    OwnTime own_time(*thread, state.share_begin, now);
    if (!state.is_worker) [[unlikely]] become_worker(*thread);
    if (is_behind(state)) [[unlikely]] own_time.is_unusual();
    if (state.wait.node != 0 && thread->call_depth == 1) {
        const bool is_next = state.wait.master == region.master && state.wait.region + 1 == region.number;
        end_wait(*thread, now, is_next ? region.last_end : end_of_region(state.wait));
    }
    if (thread->call_depth != 0 || thread->is_silent() || !session.recording()) [[unlikely]] {
        if (thread->call_depth != 0) ++state.shares_refused;
        if (thread->call_depth != 0 || !follow_switch(*thread, now)) return;
    }
    if (is_behind(state)) [[unlikely]] follow_phases(*thread, now, now, 0, 0, thread_cpu_time(), EndedRegions::never);
    JoinedPath& joined = join(*thread, region);
    if (!thread->paths.parallel().enter(boundary, joined.own, true)) [[unlikely]] {
        ++state.shares_refused;
        return;
    }
    if (state.last_joined != joined.own) thread->paths.forget_nodes();
    state.last_joined = joined.own;
    state.joined_now = &joined;
    share.thread = thread;
    share.boundary = boundary;
    own_time.book();
}

[[gnu::hot]] void end_share(RegionShare& share, const ParallelRegion& region) noexcept {
    Thread* thread = share.thread;
    if (thread == nullptr) [[unlikely]] return;
    const InTool guard;
    if (!share.is_master) thread->paths.parallel().leave(share.boundary);
    if (thread->is_silent() || guard.is_nested()) [[unlikely]] return;
    if (thread->call_depth != 0) [[unlikely]] {
        thread->drop_left_calls(reinterpret_cast<std::uintptr_t>(&share));
        if (thread->call_depth != 0) return;
    }
    OpenMpState& state = thread->openmp;
    OwnTime own_time(*thread, state.share_end);
    if (thread->phases.polls().site != nullptr) [[unlikely]] thread->phases.end_polls(session_clock.now());
    Row* row = nullptr;
    std::uint32_t* typical = nullptr;
    if (share.is_master) {
        if (state.own_region != region.node) [[unlikely]] {
            state.own_region = region.node;
            state.own_barrier = thread->tree.child(region.node, NodeKind::OpenMp, function_of(OpenMpConstruct::ImplicitBarrier), 0);
        }
        row = &thread->phases.row(state.own_barrier);
        typical = &thread->tree[state.own_barrier].typical_ns;
    } else {
        RepeatedShare& last = state.last_share;
        if (last.master != region.master || last.region != region.node || last.generation != thread->phases.row_generation()) [[unlikely]]
            last = {region.master, &thread->phases.row(state.joined_now->barrier), nullptr, thread->phases.row_generation(), region.node};
        row = last.barrier;
        typical = &state.joined_now->typical_ns;
    }
    begin_wait(*thread, visit(*thread, *row, false), typical, 0, nullptr);
    state.wait.region = region.number;
    state.wait.master = share.is_master ? nullptr : region.master;
    state.wait.is_end_of_share = true;
    const std::uint64_t now = session_clock.now();
    thread->calls[0].start = now;
    own_time.book(now);
}

bool begin_event(OpenMpConstruct construct, const void* return_address, void* frame, bool stays) noexcept {
    const InTool guard;
    if (guard.is_nested()) [[unlikely]] return false;
    Thread* thread = recording_thread();
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (thread == nullptr) [[unlikely]] return false;
    if (!is_outside_calls(*thread, own_frame)) [[unlikely]] {
        ++thread->openmp.waits_refused;
        return false;
    }
    OwnTime own_time(*thread, thread->openmp.event_begin);
    if (thread->phases.polls().site != nullptr) [[unlikely]] thread->phases.end_polls(session_clock.now());
    std::uint32_t* typical = nullptr;
    Row& row = find_row(*thread, construct, return_address, own_frame, typical);
    visit(*thread, row, !in_signature[static_cast<unsigned>(construct)]);
    thread->openmp.wait = {};
    begin_wait(*thread, row, typical, stays ? own_frame : 0, stays ? reinterpret_cast<void**>(frame)[1] : nullptr);
    const std::uint64_t now = session_clock.now();
    thread->calls[0].start = now;
    own_time.book(now);
    return true;
}

void end_event() noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr) return;
    const InTool guard;
    const std::uint64_t now = session_clock.now();
    if (thread->finished || thread->openmp.wait.node == 0 || thread->call_depth != 1) [[unlikely]] return;
    end_wait(*thread, now, EndedRegions::never);
    OwnTime(*thread, thread->openmp.event_end, now).book();
}

bool begin_task(PausedWait& paused, void* frame) noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || thread->openmp.wait.node == 0 || thread->call_depth != 1 || thread->finished) return false;
    const InTool guard;
    if (guard.is_nested()) return false;
    paused.wait = thread->openmp.wait;
    paused.call = thread->calls[0];
    end_wait(*thread, session_clock.now(), end_of_region(thread->openmp.wait));
    paused.boundary = 0;
    if (paused.wait.master != nullptr && thread->openmp.joined_now != nullptr) { // it has left the region's frames
        const auto boundary = reinterpret_cast<std::uintptr_t>(frame);
        if (thread->paths.parallel().enter(boundary, thread->openmp.joined_now->own, true)) paused.boundary = boundary;
    }
    return true;
}

void end_task(const PausedWait& paused) noexcept {
    Thread* thread = thread_local_block.thread;
    const InTool guard;
    if (thread == nullptr || thread->finished) return;
    if (paused.boundary != 0) thread->paths.parallel().leave(paused.boundary);
    if (thread->is_silent() || thread->call_depth != 0) return;
    thread->openmp.wait = paused.wait;
    thread->calls[0] = paused.call;
    thread->calls[0].row = &thread->phases.row(paused.wait.node); // the phase may be another
    thread->calls[0].inner = thread->calls[0].cpu_start = 0;
    thread->call_depth = 1;
    thread->calls[0].start = session_clock.now();
}

void close_openmp(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    OpenMpState& state = thread.openmp;
    if (state.wait.node != 0 && thread.call_depth == 1) end_wait(thread, now, end_of_region(state.wait), cpu_now == 0 ? 1 : cpu_now);
    if (is_behind(state)) follow_phases(thread, now, now, 0, 0, cpu_now, EndedRegions::never);
    state.wait = {};
    // What the main thread has begun is not this one's to end: a runtime may let workers go at any time.
    for (PhaseStack& phases = thread.phases; state.is_worker && !phases.is_outside();)
        phases.end_if_open(phases.top().kind, phases.top().name, now < phases.earliest_end() ? phases.earliest_end() : now, cpu_now);
}

} // namespace libprofile
