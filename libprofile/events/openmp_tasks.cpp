#include "libprofile/events/openmp_tasks.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/events/openmp_wait.hpp"
#include "libprofile/topology/page_nodes.hpp"

namespace libprofile {

namespace {

/// Whether something may be noted for the calling thread.
bool may_note(const Thread& thread, const InToolOf& guard) noexcept { return !guard.is_nested() && !thread.is_silent(); }

/// What it takes is no time of the program's. Inside a wait or a call it is part of that one's time.
void book(const Thread& thread, OwnTime& own_time, std::uint64_t until = 0) noexcept {
    if (thread.call_depth == 0) [[likely]]
        own_time.book(until);
}

NodeId find_place(Thread& thread, const void* return_address, std::uintptr_t frame) noexcept {
    const unsigned place_of_task = function_of(OpenMpConstruct::Count); // a known path of the place itself, of no call or construct
    if (!process.records_call_paths()) [[unlikely]]
        return 0;
    see_returns(thread);
    if (const KnownPath* known = find_known_path(thread, place_of_task, return_address, frame)) [[likely]]
        return known->node;
    const NodeId node = thread.paths.at_call(frame);
    remember_path(thread, place_of_task, return_address, frame, node);
    return node;
}

std::uint64_t add_creation(Thread& thread, NodeId place, std::uint64_t creator, std::uint64_t flags) noexcept {
    const std::uint64_t number = thread.events->tasks().next_number();
    thread.events->add_creation(place, session_clock.now(), number, creator, flags);
    return number;
}

void note_dependence(EventTrace& events, std::uint64_t address, TaskDependence kind) noexcept {
    events.add_dependence(address, kind);
    page_nodes.want(address);
}

/// That of the region, and the function in it.
NodeId find_node(Thread& thread, const void* function) noexcept {
    const ParallelFrames& parallel = thread.paths.parallel();
    const bool is_outside = parallel.depth() == 0;
    if (function == nullptr) return is_outside ? 0 : parallel.node(parallel.depth());
    return thread.tree.frame(is_outside ? thread.tree.partial() : parallel.node(parallel.depth()), reinterpret_cast<std::uintptr_t>(function));
}

} // namespace

NodeId find_task_place(const void* return_address, void* frame) noexcept {
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    return may_note(thread, guard) ? find_place(thread, return_address, reinterpret_cast<std::uintptr_t>(frame)) : no_node;
}

std::uint64_t note_creation(NodeId place, std::uint64_t creator, std::uint64_t flags) noexcept {
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    if (place == no_node || !may_note(thread, guard)) [[unlikely]]
        return 0;
    OwnTime own_time(thread, thread.events->tasks().creation);
    const std::uint64_t number = add_creation(thread, place, creator, flags);
    book(thread, own_time);
    return number;
}

[[gnu::hot]] std::uint64_t note_creation_at(const void* return_address, void* frame, std::uint64_t creator, std::uint64_t flags) noexcept {
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    if (!may_note(thread, guard)) [[unlikely]]
        return 0;
    OwnTime own_time(thread, thread.events->tasks().creation);
    const std::uint64_t number = add_creation(thread, find_place(thread, return_address, reinterpret_cast<std::uintptr_t>(frame)), creator, flags);
    book(thread, own_time);
    return number;
}

std::uint64_t number_without_creation() noexcept {
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    return may_note(thread, guard) ? thread.events->tasks().next_number() : 0;
}

void note_dependences(const TaskNeed* needs, unsigned count) noexcept {
    if (count == 0) return;
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    if (!may_note(thread, guard)) return;
    for (unsigned i = 0; i < count; ++i) note_dependence(*thread.events, reinterpret_cast<std::uintptr_t>(needs[i].address), needs[i].kind);
}

[[gnu::hot]] void begin_stretch(TaskStretch& stretch, std::uint64_t task, const void* function, bool is_resumed) noexcept {
    stretch.task = stretch.begin = 0;
    if (task == 0 || !traces_tasks()) return;
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    stretch.task = task;
    stretch.around = thread.events->tasks().enter(task);
    if (!may_note(thread, guard)) [[unlikely]]
        return;
    OwnTime own_time(thread, thread.events->tasks().begin);
    stretch.node = find_node(thread, function);
    stretch.is_resumed = is_resumed;
    stretch.is_counted = thread.counters.is_on();
    if (stretch.is_counted) [[unlikely]] {
        thread.counters.look(true);
        thread.counters.values(stretch.counted);
    }
    const std::uint64_t now = session_clock.now();
    stretch.begin = now;
    book(thread, own_time, now);
}

[[gnu::hot]] void end_stretch(const TaskStretch& stretch, bool is_over) noexcept {
    if (stretch.task == 0 || !traces_tasks()) return;
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    thread.events->tasks().enter(stretch.around);
    if (stretch.begin == 0 || !may_note(thread, guard)) [[unlikely]]
        return;
    const std::uint64_t now = session_clock.now();
    OwnTime own_time(thread, thread.events->tasks().end, now);
    const std::uint64_t flags = (is_over ? std::uint64_t{TaskIsOver} : 0) | (stretch.is_resumed ? std::uint64_t{TaskIsResumed} : 0);
    const bool is_counted = stretch.is_counted && thread.counters.is_on();
    if (is_counted) [[unlikely]]
        thread.counters.look(true);
    thread.events->add_run(stretch.node, stretch.begin, now, stretch.task, flags);
    if (is_counted) [[unlikely]]
        thread.events->add_counts(stretch.counted);
    if (page_nodes.is_due(now)) [[unlikely]] {
        own_time.is_unusual();
        page_nodes.ask(now);
    }
    book(thread, own_time);
}

void begin_taskgroup(std::uint64_t task, void* frame) noexcept {
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    if (guard.is_nested()) return;
    thread.events->tasks().begin_group(task, reinterpret_cast<std::uintptr_t>(frame), session_clock.now());
}

void end_taskgroup(std::uint64_t task) noexcept {
    Thread& thread = *thread_local_block.thread;
    const InToolOf guard(thread);
    if (guard.is_nested()) return;
    const std::uint64_t begin = thread.events->tasks().end_group(task);
    if (begin != TaskState::no_group && !thread.is_silent()) thread.events->add_group(begin, session_clock.now(), task);
}

} // namespace libprofile
