// Interposed: GOMP_task, GOMP_taskloop* and GOMP_taskgroup* of GCC's OpenMP runtime.
// Contract: as libgomp.cpp.
//
// In a trace of events a task has a number, in front of the program's data. A taskloop's tasks are made inside the runtime: each is noted when its data are
// copied for it, on the thread that makes it. If the runtime executes them at once, one after another, each is noted when it begins. Else, where no
// function may copy their data, only their runs are known.

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/events/openmp_events.hpp"
#include "libprofile/events/openmp_tasks.hpp"
#include "wrappers/openmp/depend_list.hpp"
#include "wrappers/openmp/libgomp_runtime.hpp"

#include <alloca.h>
#include <cstdint>
#include <cstring>

namespace libprofile {

using namespace libgomp;

namespace {

struct Task {
    Outlined function;
    void (*copy)(void*, void*);
    void* data;
    std::uintptr_t offset; // of the program's own data, in the copy that the task gets
};
struct TracedLoop {
    const Thread* thread; // that has the place
    NodeId place;
    std::uint64_t creator;
    std::uint64_t flags; // TaskFlag
};
/// One in the trace of events.
struct NumberedTask : Task {
    std::uint64_t number;
    std::size_t size;       // of the program's own data
    const TracedLoop* loop; // of a taskloop's tasks, as long as that runs
};

/// Calls the program's function for a task, from a frame at `frame`.
inline void call_task(const Task& task, void* data, void* frame) {
    PausedWait paused;
    const bool was_waiting = begin_task(paused, frame);
    task.function(data);
    if (was_waiting) end_task(paused);
}

inline std::uint64_t make_task_of_loop(const TracedLoop* loop) {
    if (!traces_tasks()) return 0;
    const bool is_known = loop != nullptr && loop->thread == thread_local_block.thread;
    return is_known ? note_creation(loop->place, loop->creator, loop->flags) : number_without_creation();
}

inline void call_task(const NumberedTask& task, void* data, void* frame) {
    PausedWait paused;
    const bool was_waiting = begin_task(paused, frame);
    TaskStretch stretch;
    // A task's number is 0 if its data are those of the whole loop.
    const std::uint64_t number = task.number != 0 || !traces_tasks() ? task.number : make_task_of_loop(task.loop);
    begin_stretch(stretch, number, reinterpret_cast<const void*>(task.function), false);
    task.function(data);
    end_stretch(stretch, true);
    if (was_waiting) end_task(paused);
}

/// Runs in place of the task's function, whose data follow ours.
template <class Head> void run_task(void* argument) {
    const auto* task = static_cast<const Head*>(argument);
    call_task(*task, static_cast<char*>(argument) + task->offset, __builtin_frame_address(0));
}

template <class Head> void copy_task(void* to, void* from) {
    const auto* task = static_cast<const Head*>(from);
    std::memcpy(to, task, sizeof(Head));
    task->copy(static_cast<char*>(to) + task->offset, task->data);
}

/// The tasks of a taskloop: into the first two words of each one's data the runtime writes which passes are its own.
template <class Head> struct LoopTask {
    std::uint64_t passes[2];
    Head task;
};

template <class Head> void run_loop_task(void* argument) {
    const auto* loop_task = static_cast<const LoopTask<Head>*>(argument);
    char* data = static_cast<char*>(argument) + loop_task->task.offset;
    std::memcpy(data, loop_task->passes, sizeof loop_task->passes);
    call_task(loop_task->task, data, __builtin_frame_address(0));
}

inline void number_copy(Task&) {}
inline void number_copy(NumberedTask& task) {
    task.number = make_task_of_loop(task.loop);
    task.loop = nullptr; // it may be over before the task begins
}

template <class Head> void copy_loop_task(void* to, void* from) {
    const auto* loop_task = static_cast<const LoopTask<Head>*>(from);
    std::memcpy(to, loop_task, sizeof(LoopTask<Head>));
    number_copy(static_cast<LoopTask<Head>*>(to)->task);
    loop_task->task.copy(static_cast<char*>(to) + loop_task->task.offset, loop_task->task.data);
}

/// What a task gets for its data: `Head`, then, from a multiple of `align` on, the program's own, of `size` bytes.
struct TaskBlock {
    static constexpr long largest = 4096; // larger data would not fit our stack
    static bool fits(long size, long alignment) { return size >= 0 && size <= largest && alignment <= 64; }
    TaskBlock(std::size_t head, long own_size, long own_alignment)
        : align(static_cast<std::size_t>(own_alignment < 16 ? 16 : own_alignment)), offset((head + align - 1) / align * align),
          size(offset + static_cast<std::size_t>(own_size)) {}
    /// In `room`, of size + align bytes.
    char* aligned_in(void* room) const { return align_in(room, align); }
    std::size_t align;
    std::size_t offset;
    std::size_t size;
};

using MakeTask = void (*)(Outlined, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);
struct TaskClauses {
    bool if_clause;
    unsigned flags;
    void** depend;
    int priority;
    void* detach;
};

/// Inlined: it calls alloca().
template <class Head> [[gnu::always_inline]] inline void make_task(MakeTask function, Head& task, long size, long alignment, const TaskClauses& c) {
    const TaskBlock block(sizeof(Head), size, alignment);
    task.offset = block.offset;
    const auto whole = static_cast<long>(block.size), align = static_cast<long>(block.align);
    if (task.copy != nullptr) return function(run_task<Head>, &task, copy_task<Head>, whole, align, c.if_clause, c.flags, c.depend, c.priority, c.detach);
    char* copied = block.aligned_in(alloca(block.size + block.align));
    std::memcpy(copied, &task, sizeof task);
    if (size != 0) std::memcpy(copied + block.offset, task.data, static_cast<std::size_t>(size));
    function(run_task<Head>, copied, nullptr, whole, align, c.if_clause, c.flags, c.depend, c.priority, c.detach);
}

/// Of GCC's flags those of tasks that say how they are executed.
constexpr unsigned is_untied = 1, is_final = 2, has_depend = 8;

/// How the runtime will execute a task. It asks the same; but if too many wait it executes one at once, too.
inline std::uint64_t flags_of_task(bool may_be_deferred, unsigned flags) {
    const bool is_in_final = ask(in_final, 0) != 0;
    std::uint64_t says = 0;
    if (!may_be_deferred || is_in_final || ask(level, 1) == 0) says |= TaskIsUndeferred;
    if (is_in_final || (flags & is_final) != 0) says |= TaskIsFinal;
    if ((flags & is_untied) != 0) says |= TaskIsUntied;
    return says;
}

[[gnu::noinline]] void note_depend_list(void** depend) {
    TaskNeeds needs;
    for_each_need(depend, [&](const TaskNeed& need) { needs.add(need); });
}

using Taskloop = void (*)(Outlined, void*, void (*)(void*, void*), long, long, unsigned, unsigned long, int, std::uint64_t, std::uint64_t, std::uint64_t);
struct LoopClauses {
    unsigned flags;
    unsigned long tasks;
    int priority;
    std::uint64_t start, end, step;
};

/// How many tasks the runtime makes of a loop, as its taskloop.c counts them; of a loop without passes, anything.
inline std::uint64_t tasks_of_loop(const LoopClauses& c) {
    constexpr unsigned is_upwards = 1u << 8, has_grainsize = 1u << 9;
    const bool is_up = (c.flags & is_upwards) != 0;
    const std::uint64_t distance = is_up ? c.end - c.start : c.start - c.end, step = is_up ? c.step : 0 - c.step;
    const std::uint64_t passes = distance == 0 || step == 0 ? 1 : (distance - 1) / step + 1;
    const std::uint64_t wanted = c.tasks != 0 ? c.tasks : static_cast<std::uint64_t>(ask(team_size, 1));
    if ((c.flags & has_grainsize) == 0) return wanted < passes ? wanted : passes;
    return passes / wanted < 1 ? 1 : passes / wanted;
}

/// `copy_block`: the runtime is to copy the data by it for each task, although the program has no function for that. Inlined: it calls alloca().
template <class Head> [[gnu::always_inline]] inline void make_taskloop(Taskloop function, LoopTask<Head>& loop, long size, long alignment, const LoopClauses& c,
                                                                       void (*copy_block)(void*, void*)) {
    const TaskBlock block(sizeof(LoopTask<Head>), size, alignment);
    loop.task.offset = block.offset;
    void* given = &loop;
    if (loop.task.copy == nullptr) {
        char* copied = block.aligned_in(alloca(block.size + block.align));
        std::memcpy(copied, &loop, sizeof loop);
        std::memcpy(copied + block.offset, loop.task.data, static_cast<std::size_t>(size));
        given = copied;
    }
    function(run_loop_task<Head>, given, loop.task.copy != nullptr ? copy_loop_task<Head> : copy_block, static_cast<long>(block.size),
             static_cast<long>(block.align), c.flags, c.tasks, c.priority, c.start, c.end, c.step);
}

/// As the runtime would copy it, but with a number.
void copy_loop_block(void* to, void* from) {
    const auto* loop = static_cast<const LoopTask<NumberedTask>*>(from);
    std::memcpy(to, from, loop->task.offset + loop->task.size);
    number_copy(static_cast<LoopTask<NumberedTask>*>(to)->task);
}

/// In a trace of events. `frame` and `return_address` of the wrapper. Returns false if it is not recorded.
[[gnu::always_inline]] inline bool trace_taskloop(Taskloop function, Outlined fn, void* data, void (*copy)(void*, void*), long size, long alignment,
                                                  const LoopClauses& clauses, bool has_group, const void* return_address, void* frame) {
    constexpr unsigned if_clause = 1u << 10;
    // A runtime that executes all tasks at once has those that are copied by a function on its stack together, with what it knows of each.
    constexpr std::uint64_t most_stack = 64 << 10, more_of_each = 512, waiting_of_each_thread = 64;
    TracedLoop traced{thread_local_block.thread, find_task_place(return_address, frame), current_task(), 0};
    if (traced.place == no_node) return false;
    traced.flags = flags_of_task((clauses.flags & if_clause) != 0, clauses.flags) | TaskIsOfLoop;
    const std::uint64_t tasks = tasks_of_loop(clauses);
    if (tasks > waiting_of_each_thread * static_cast<std::uint64_t>(ask(team_size, 1))) traced.flags |= TaskIsUndeferred;
    const bool is_deferred = (traced.flags & TaskIsUndeferred) == 0;
    const TaskBlock block(sizeof(LoopTask<NumberedTask>), size, alignment);
    // Of a cancelled group the runtime drops tasks that have not begun, but not those whose data were copied by a function.
    const bool copies = copy != nullptr || (is_deferred && tasks <= most_stack / (block.size + block.align + more_of_each) && ask(cancellation, 1) == 0);
    const bool is_there = copies || (!is_deferred && has_group); // `traced`, as long as the runtime may ask for it
    LoopTask<NumberedTask> loop{{}, {{fn, copy, data, 0}, 0, static_cast<std::size_t>(size), is_there ? &traced : nullptr}};
    if (has_group) begin_taskgroup(traced.creator, frame);
    make_taskloop(function, loop, size, alignment, clauses, copies ? copy_loop_block : nullptr);
    if (has_group && traces_tasks()) end_taskgroup(traced.creator); // not in a child that a task has forked
    return true;
}

/// A loop of tasks, which the runtime waits for unless it is told not to. `frame` and `return_address` of the wrapper. Inlined: it calls alloca().
[[gnu::always_inline]] inline void run_taskloop(Taskloop function, Outlined fn, void* data, void (*copy)(void*, void*), long size, long alignment,
                                                const LoopClauses& clauses, const void* return_address, void* frame) {
    constexpr unsigned no_group = 1u << 11;
    constexpr unsigned known_flags = 0x1f | 1u << 8 | 1u << 9 | 1u << 10 | no_group; // in addition to those of tasks: up, grainsize, if
    constexpr long least = sizeof(LoopTask<Task>::passes);
    if (!is_measured() || (clauses.flags & ~known_flags) != 0 || size < least || !TaskBlock::fits(size, alignment))
        return function(fn, data, copy, size, alignment, clauses.flags, clauses.tasks, clauses.priority, clauses.start, clauses.end, clauses.step);
    const bool has_group = (clauses.flags & no_group) == 0;
    const bool waits = has_group && begin_event(OpenMpConstruct::Taskgroup, return_address, frame, frame);
    if (!traces_tasks() || !trace_taskloop(function, fn, data, copy, size, alignment, clauses, has_group, return_address, frame)) {
        LoopTask<Task> loop{{}, {fn, copy, data, 0}};
        make_taskloop(function, loop, size, alignment, clauses, nullptr);
    }
    if (waits) end_event();
}

/// Groups of tasks. Beginnings and ends are noted whether or not recording is on: it may be switched between them.
inline bool traces_groups() { return !tells_itself() && traces_tasks(); }

} // namespace

// clang-format off
VERSIONED(GOMP_task, GOMP_2.0) // which would part the number
// clang-format on
PUBLIC void libprofile_GOMP_task(Outlined fn, void* data, void (*copy)(void*, void*), long size, long alignment, bool if_clause, unsigned flags, void** depend,
                                 int priority, void* detach) {
    const auto function = reinterpret_cast<MakeTask>(real(Entry_GOMP_task));
    constexpr unsigned known_flags = 0x1f; // untied, final, mergeable, depend and priority; others change what the data are
    if (!is_measured() || (flags & ~known_flags) != 0 || !TaskBlock::fits(size, alignment))
        return function(fn, data, copy, size, alignment, if_clause, flags, depend, priority, detach);
    const TaskClauses clauses{if_clause, flags, depend, priority, detach};
    if (traces_tasks()) [[unlikely]] {
        const std::uint64_t number = note_creation_at(__builtin_return_address(0), LIBPROFILE_OWN_FRAME, current_task(), flags_of_task(if_clause, flags));
        if (number != 0) {
            if ((flags & has_depend) != 0) note_depend_list(depend);
            NumberedTask task{{fn, copy, data, 0}, number, 0, nullptr};
            return make_task(function, task, size, alignment, clauses);
        }
    }
    Task task{fn, copy, data, 0};
    make_task(function, task, size, alignment, clauses);
}

// clang-format off
#define TASKLOOP(name)                                                                                                                                         \
    VERSIONED(name, GOMP_4.5)                                                                                                                                 \
    PUBLIC void libprofile_##name(Outlined fn, void* data, void (*copy)(void*, void*), long size, long alignment, unsigned flags, unsigned long tasks,         \
                                  int priority, std::uint64_t start, std::uint64_t end, std::uint64_t step) {                                                  \
        run_taskloop(reinterpret_cast<Taskloop>(real(Entry_##name)), fn, data, copy, size, alignment, {flags, tasks, priority, start, end, step},              \
                     __builtin_return_address(0), LIBPROFILE_OWN_FRAME);                                                                                 \
    }
// clang-format on
TASKLOOP(GOMP_taskloop)
TASKLOOP(GOMP_taskloop_ull)

// clang-format off
VERSIONED(GOMP_taskgroup_start, GOMP_4.0)
// clang-format on
PUBLIC void libprofile_GOMP_taskgroup_start() {
    const auto function = reinterpret_cast<void (*)()>(real(Entry_GOMP_taskgroup_start));
    if (traces_groups()) [[unlikely]]
        begin_taskgroup(current_task(), __builtin_frame_address(0));
    function();
}

// clang-format off
VERSIONED(GOMP_taskgroup_end, GOMP_4.0)
// clang-format on
PUBLIC void libprofile_GOMP_taskgroup_end() {
    const auto function = reinterpret_cast<void (*)()>(real(Entry_GOMP_taskgroup_end));
    if (is_measured()) {
        OpenMpEvent event(OpenMpConstruct::Taskgroup, __builtin_return_address(0), LIBPROFILE_OWN_FRAME);
        function();
    } else {
        function();
    }
    if (traces_groups()) [[unlikely]]
        end_taskgroup(current_task());
}

} // namespace libprofile
