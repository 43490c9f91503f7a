#include "libprofile/base/hashing.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/events/openmp_wait.hpp"
#include "libprofile/thread/noted_event.hpp"
#include "libprofile/thread/recording.hpp"

namespace libprofile {

namespace {

NodeId implicit_barrier(Thread& thread, NodeId region) noexcept {
    return thread.tree.child(region, NodeKind::OpenMp, function_of(OpenMpConstruct::ImplicitBarrier), 0);
}

/// At the end of the region of `node` whose master the thread is.
inline OwnBarrier& own_barrier(Thread& thread, NodeId node) noexcept {
    OwnBarrier& own = thread.openmp.barriers[node % OpenMpState::most_barriers];
    if (own.region != node) [[unlikely]] {
        const NodeId barrier = implicit_barrier(thread, node);
        own = {node, barrier, &thread.tree[barrier].typical_ns, {}};
    }
    return own;
}

/// Copies the call path of a region into the tree of a thread that works in it.
[[gnu::noinline]] void copy_path(Thread& thread, const ParallelRegion& region, JoinedPath& joined) noexcept {
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
    joined = {region.master, region.node, own, implicit_barrier(thread, own), 0, {}};
}

/// The call path of the region in the tree of a thread that works in it.
inline JoinedPath& join(Thread& thread, const ParallelRegion& region) noexcept {
    const std::uint64_t hash = short_hash(reinterpret_cast<std::uintptr_t>(region.master) ^ (std::uintptr_t{region.node} << 20), 6);
    OpenMpState& state = thread.openmp;
    if (state.joined == nullptr) [[unlikely]]
        state.joined = thread.arena.array<JoinedPath>(OpenMpState::most_joined);
    JoinedPath& joined = state.joined != nullptr ? state.joined[hash] : state.only_joined;
    static_assert(OpenMpState::most_joined == 1u << 6);
    if (joined.master != region.master || joined.theirs != region.node) [[unlikely]]
        copy_path(thread, region, joined);
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

/// end_of_region() for a worker that goes on in `region`: mostly that is the next one, which says so itself.
inline std::uint64_t end_of_region_before(const OpenMpWait& wait, const ParallelRegion& region) noexcept {
    const bool is_next = wait.master == region.master && wait.region + 1 == region.number;
    return is_next && region.last_end != EndedRegions::never ? region.last_end : end_of_region(wait);
}

/// A worker in whose wait something has happened, or that waits for nothing: what it has to know of before its next share. False: the
/// share is not measured.
[[gnu::noinline]] bool catch_up(Thread& thread, const ParallelRegion& region, std::uint64_t now) noexcept {
    OpenMpState& state = thread.openmp;
    if (thread.finished) return false;
    if (!state.is_worker) become_worker(thread);
    const OpenMpWait& wait = state.wait;
    if (wait.node != 0 && thread.call_depth == 1) {
        end_wait(thread, now, end_of_region_before(wait, region));
    }
    if (thread.call_depth != 0) {
        ++state.shares_refused;
        return false;
    }
    if ((thread.is_silent() || !process.recording()) && !follow_switch(thread, now)) return false;
    if (is_behind(state)) follow_phases(thread, now, thread_cpu_time());
    return true;
}

/// The worker has waited since its last share, and nothing else has happened.
inline bool is_waiting_only(const Thread& thread) noexcept {
    const OpenMpState& state = thread.openmp;
    return state.wait.master != nullptr && thread.call_depth == 1 && !is_behind(state) && !thread.is_silent() && process.recording();
}

/// A region is an event of its master's iteration, and holds what comes on the way.
[[gnu::noinline]] void note_region_begin(Thread& thread, const ParallelRegion& region) noexcept {
    thread.openmp.begins[region.number % OpenMpState::most_begins] = {region.number, session_clock.now()};
    note_begin(thread, region.node);
}
[[gnu::noinline]] void note_region(Thread& thread, const ParallelRegion& region, std::uint64_t now) noexcept {
    const OpenMpState::RegionBegin& begin = thread.openmp.begins[region.number % OpenMpState::most_begins];
    if (begin.region == region.number && !thread.is_silent()) note_event(thread, region.node, begin.at, now - begin.at);
}

/// The region of a master that was the whole team is over: there was no thread to wait for, so the barrier lasted no time.
inline void end_lone_region(Thread& thread, const ParallelRegion& region) noexcept {
    if (thread.is_silent()) [[unlikely]]
        return;
    OpenMpState& state = thread.openmp;
    OwnTime own_time(thread, state.region_end);
    end_polls(thread);
    OwnBarrier& own = own_barrier(thread, region.node);
    visit(thread, row_of(thread, own.row, own.barrier), false);
    if (thread.listeners.any()) [[unlikely]] {
        const std::uint64_t now = session_clock.now();
        note_event(thread, own.barrier, now, 0);
        note_region(thread, region, now);
    }
    own_time.book();
}

} // namespace

void begin_refused_share() noexcept {
    const InTool guard;
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || guard.is_nested() || thread->finished) return;
    const OpenMpWait& wait = thread->openmp.wait;
    if (wait.node == 0 || wait.master == nullptr || thread->call_depth != 1) return;
    end_wait(*thread, session_clock.now(), end_of_region(wait));
}

[[gnu::cold]] void give_up_region(ParallelRegion& region) noexcept {
    Thread* thread = region.master;
    if (thread == nullptr) return;
    const InToolOf guard(*thread);
    thread->paths.parallel().leave(region.frame_address);
    ++thread->openmp.regions_refused;
    region.master = nullptr;
}

[[gnu::cold]] void give_up_share(RegionShare& share) noexcept {
    Thread* thread = share.thread;
    if (thread == nullptr) return;
    const InToolOf guard(*thread);
    if (!share.is_master) thread->paths.parallel().leave(share.frame_address);
    ++thread->openmp.shares_refused;
    share.thread = nullptr;
}

[[gnu::hot]] void begin_region(ParallelRegion& region, const void* return_address, void* frame, void* frame_address) noexcept {
    Thread* thread = own_location();
    if (thread == nullptr) [[unlikely]]
        return;
    const InToolOf guard(*thread);
    if (guard.is_nested() || !records(*thread)) [[unlikely]]
        return;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (!is_own_stack(own_frame) || !is_outside_calls(*thread, own_frame)) [[unlikely]]
        return refuse(*thread, region);
    OpenMpState& state = thread->openmp;
    OwnTime own_time(*thread, state.region_begin);
    end_polls(*thread);
    std::uint32_t* typical = nullptr;
    Row& row = visit(*thread, find_row(*thread, OpenMpConstruct::Parallel, return_address, own_frame, typical), false);
    ParallelFrames& parallel = thread->paths.parallel();
    const auto outside = reinterpret_cast<std::uintptr_t>(frame_address);
    if (!parallel.enter(outside, row.node, parallel.begins_in_runtime())) [[unlikely]]
        return refuse(*thread, region);
    // Frames of the runtime that were there before the region began, and go on inside of it, have nodes outside of it.
    if (outside != own_frame) thread->paths.forget_nodes_below(outside);
    region.master = thread;
    region.node = row.node;
    region.number = ++state.regions;
    if (state.last_ended + 1 == region.number) region.last_end = state.last_ended_at;
    region.frame_address = outside;
    if (thread->listeners.any()) [[unlikely]]
        note_region_begin(*thread, region);
    own_time.book();
}

[[gnu::hot]] void end_region(ParallelRegion& region) noexcept {
    Thread* thread = region.master;
    if (thread == nullptr) [[unlikely]]
        return;
    const InToolOf guard(*thread);
    OpenMpState& state = thread->openmp;
    thread->paths.parallel().leave(region.frame_address);
    if (state.alone == region.number) return end_lone_region(*thread, region);
    const std::uint64_t now = session_clock.now();
    if (thread->finished) [[unlikely]]
        return;
    OwnTime own_time(*thread, state.region_end, now);
    if (state.wait.node != 0 && state.wait.region == region.number && thread->call_depth == 1) end_wait(*thread, now, EndedRegions::never);
    if (thread->listeners.any()) [[unlikely]]
        note_region(*thread, region, now);
    state.ended.add(region.number, now);
    state.last_ended = region.number;
    state.last_ended_at = now;
    if (!thread->is_silent()) own_time.book();
}

[[gnu::hot]] void begin_any_share(RegionShare& share, const ParallelRegion& region, void* frame) noexcept {
    Thread* thread = thread_local_block.thread;
    if (region.master == nullptr) [[unlikely]] {
        if (region.refused_by != 0 && thread != nullptr && region.refused_by != thread->index + 1) begin_refused_share();
        return;
    }
    if (thread == nullptr) [[unlikely]]
        thread = open_location();
    if (thread == nullptr) [[unlikely]]
        return;
    const InToolOf guard(*thread);
    if (guard.is_nested()) [[unlikely]]
        return;
    const std::uint64_t now = session_clock.now();
    OpenMpState& state = thread->openmp;
    OwnTime own_time(*thread, state.share_begin, now);
    thread->drop_doubtful_wait();
    if (is_waiting_only(*thread)) [[likely]] {
        end_wait(*thread, now, end_of_region_before(state.wait, region));
    } else {
        if (is_behind(state)) own_time.is_unusual();
        if (!catch_up(*thread, region, now)) return;
    }
    JoinedPath& joined = join(*thread, region);
    const auto frame_address = reinterpret_cast<std::uintptr_t>(frame);
    if (!thread->paths.parallel().enter(frame_address, joined.own, true)) [[unlikely]] {
        ++state.shares_refused;
        return;
    }
    if (state.last_joined != joined.own) thread->paths.forget_nodes();
    state.last_joined = joined.own;
    state.joined_now = &joined;
    share.thread = thread;
    share.frame_address = frame_address;
    own_time.book();
}

[[gnu::hot]] void end_shared_share(RegionShare& share, const ParallelRegion& region) noexcept {
    Thread* thread = share.thread;
    OpenMpState& state = thread->openmp;
    const InToolOf guard(*thread);
    if (!share.is_master) thread->paths.parallel().leave(share.frame_address);
    if (thread->is_silent() || guard.is_nested()) [[unlikely]]
        return;
    if (!is_outside_calls(*thread, reinterpret_cast<std::uintptr_t>(&share))) [[unlikely]]
        return;
    OwnTime own_time(*thread, state.share_end);
    end_polls(*thread);
    if (share.is_master) {
        OwnBarrier& own = own_barrier(*thread, region.node);
        begin_wait(*thread, visit(*thread, row_of(*thread, own.row, own.barrier), false), own.typical_ns, 0, nullptr);
        state.wait.master = nullptr;
    } else {
        JoinedPath& joined = join(*thread, region);
        begin_wait(*thread, visit(*thread, row_of(*thread, joined.row, joined.barrier), false), &joined.typical_ns, 0, nullptr);
        state.wait.master = region.master;
    }
    state.wait.region = region.number;
    const std::uint64_t now = session_clock.now();
    thread->calls[0].start = now;
    own_time.book(now);
}

} // namespace libprofile
