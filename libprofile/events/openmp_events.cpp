#include "libprofile/events/openmp_wait.hpp"

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/thread/noted_event.hpp"

namespace libprofile {

namespace {

/// Tasks may wait in each other's waits without end, each on a call path of its own: farther inside, more of these than are remembered would be looked up.
constexpr std::uint32_t most_paused = 64;

constexpr bool in_signature[] = {
#define OMP(id, name, category, in_signature) in_signature,
#include "format/openmp.def"
#undef OMP
};

constexpr bool is_lock(OpenMpConstruct construct) {
    return construct == OpenMpConstruct::Lock || construct == OpenMpConstruct::Critical || construct == OpenMpConstruct::Ordered;
}

} // namespace

void count_in_frame(OpenMpConstruct construct, const void* return_address, void* frame) noexcept {
    Thread* thread = own_location();
    if (thread == nullptr) [[unlikely]]
        return;
    const InToolOf guard(*thread);
    if (guard.is_nested() || !records(*thread)) [[unlikely]]
        return;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (!is_outside_calls(*thread, own_frame) || thread->openmp.paused >= most_paused) [[unlikely]] {
        ++thread->openmp.waits_refused;
        return;
    }
    OwnTime own_time(*thread, thread->openmp.event_count);
    end_polls(*thread);
    std::uint32_t* typical = nullptr;
    const Row& row = visit(*thread, find_row(*thread, construct, return_address, own_frame, typical), !in_signature[static_cast<unsigned>(construct)]);
    if (thread->listeners.any()) [[unlikely]]
        note_event(*thread, row.node, session_clock.now(), 0);
    own_time.book();
}

[[gnu::hot]] bool begin_event(OpenMpConstruct construct, const void* return_address, void* frame, void* waiting) noexcept {
    Thread* thread = own_location();
    if (thread == nullptr) [[unlikely]]
        return false;
    const InToolOf guard(*thread);
    if (guard.is_nested() || !records(*thread)) [[unlikely]]
        return false;
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (!is_outside_calls(*thread, own_frame) || thread->openmp.paused >= most_paused) [[unlikely]] {
        ++thread->openmp.waits_refused;
        return false;
    }
    OwnTime own_time(*thread, thread->openmp.event_begin);
    end_polls(*thread);
    std::uint32_t* typical = nullptr;
    Row& row = visit(*thread, find_row(*thread, construct, return_address, own_frame, typical), !in_signature[static_cast<unsigned>(construct)]);
    thread->openmp.wait = {};
    begin_wait(*thread, row, typical, reinterpret_cast<std::uintptr_t>(waiting),
               waiting == nullptr ? nullptr : reinterpret_cast<void*>(return_address_of(reinterpret_cast<std::uintptr_t>(waiting))));
    thread->openmp.wait.may_be_over = waiting != frame && is_lock(construct);
    const std::uint64_t now = session_clock.now();
    thread->calls[0].start = now;
    own_time.book(now);
    return true;
}

[[gnu::hot]] void end_event() noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr) [[unlikely]]
        return;
    const InToolOf guard(*thread);
    const std::uint64_t now = session_clock.now();
    if (thread->finished || thread->openmp.wait.node == 0 || thread->call_depth != 1) [[unlikely]]
        return;
    OwnTime own_time(*thread, thread->openmp.event_end, now);
    end_wait(*thread, now, EndedRegions::never);
    own_time.book();
}

bool begin_task(PausedWait& paused, void* frame) noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || thread->openmp.wait.node == 0 || thread->call_depth != 1 || thread->finished) return false;
    const InTool guard;
    if (guard.is_nested()) return false;
    thread->drop_doubtful_wait(); // no thread gets a task while it waits for a lock
    if (thread->call_depth == 0) return false;
    paused.around = thread->openmp.paused++;
    paused.wait = thread->openmp.wait;
    paused.call = thread->calls[0];
    if (paused.wait.began_at == 0) paused.wait.began_at = paused.call.start;
    thread->openmp.wait.goes_on = true;
    end_wait(*thread, session_clock.now(), end_of_region(thread->openmp.wait));
    paused.frame_address = 0;
    if (paused.wait.master != nullptr && thread->openmp.joined_now != nullptr) { // it has left the region's frames
        const auto frame_address = reinterpret_cast<std::uintptr_t>(frame);
        if (thread->paths.parallel().enter(frame_address, thread->openmp.joined_now->own, true)) paused.frame_address = frame_address;
    }
    return true;
}

void forget_task(const PausedWait& paused) noexcept {
    if (Thread* thread = thread_local_block.thread; thread != nullptr) thread->openmp.paused = paused.around;
}

void end_task(const PausedWait& paused) noexcept {
    Thread* thread = thread_local_block.thread;
    const InTool guard;
    if (thread == nullptr || thread->finished) return;
    thread->openmp.paused = paused.around;
    if (paused.frame_address != 0) thread->paths.parallel().leave(paused.frame_address);
    thread->drop_doubtful_wait();
    if (thread->is_silent() || thread->call_depth != 0) return;
    end_polls(*thread); // which rests on calls[0]
    thread->openmp.wait = paused.wait;
    thread->calls[0] = paused.call;
    thread->calls[0].row = &thread->phases.row(paused.wait.node); // the phase may be another
    thread->calls[0].inner = thread->calls[0].cpu_start = 0;
    thread->call_depth = 1;
    thread->calls[0].start = session_clock.now();
}

void close_openmp(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    OpenMpState& state = thread.openmp;
    if (state.wait.node != 0 && thread.call_depth == 1) end_any_wait(thread, now, end_of_region(state.wait), cpu_now == 0 ? 1 : cpu_now);
    if (is_behind(state)) follow_phases(thread, now, cpu_now);
    state.wait = {};
    // What the main thread has begun is not this one's to end: a runtime may let workers go at any time.
    for (PhaseStack& phases = thread.phases; state.is_worker && !phases.is_outside();)
        phases.end_if_open(phases.top().kind, phases.top().name, now < phases.time().earliest_end() ? phases.time().earliest_end() : now, cpu_now);
}

} // namespace libprofile
