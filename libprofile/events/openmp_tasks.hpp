// The tasks of OpenMP in the trace of events (LIBPROFILE_TRACE=events): who made each one and where, on what it depends, when which thread executed it;
// and taskgroups.
// Contract: as openmp_events.hpp. Called for a thread that traces_tasks(), with what a wrapper or a callback of the runtime knows. A task costs some 60 to
// 80 ns: one reading of the clock for its creation, two for each stretch of its execution. If the user chose counters, a stretch takes two readings of them.
//
// A creation is noted before the runtime is asked for the task, so it is earlier than the task's execution, also on the trace's axis.
// A stretch of execution has the call path of the parallel region, and below it the task's function if the runtime tells that. Where the stack stands
// meanwhile is random: a thread that waits takes any task.
#pragma once

#include "libprofile/base/process_state.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// One load, and another one where there is a trace.
inline bool traces_tasks() noexcept {
    const Thread* thread = thread_local_block.thread;
    return thread != nullptr && thread->events != nullptr;
}
/// The task that the calling thread executes, if its tasks were told by begin_stretch(); 0: an implicit one.
inline std::uint64_t current_task() noexcept { return thread_local_block.thread->events->tasks().current(); }

/// The call path of a place where tasks are made, no_node if nothing is to be recorded. `return_address` and `frame` as for an event.
NodeId find_task_place(const void* return_address, void* frame) noexcept;
/// A task is made there, now. `flags`: TaskFlag. Returns its number; 0: it is not recorded.
std::uint64_t note_creation(NodeId place, std::uint64_t creator, std::uint64_t flags) noexcept;
/// Both in one.
std::uint64_t note_creation_at(const void* return_address, void* frame, std::uint64_t creator, std::uint64_t flags) noexcept;
/// A number for a task whose creation is not known.
std::uint64_t number_without_creation() noexcept;

struct TaskNeed {
    const void* address;
    TaskDependence kind;
};
/// What the task depends on that was noted last. At once after its creation.
void note_dependences(const TaskNeed* needs, unsigned count) noexcept;

/// The same, one by one.
class TaskNeeds {
  public:
    TaskNeeds() noexcept = default;
    ~TaskNeeds() noexcept { note_dependences(needs_, count_); }
    TaskNeeds(const TaskNeeds&) = delete;
    TaskNeeds& operator=(const TaskNeeds&) = delete;
    void add(const TaskNeed& need) noexcept {
        needs_[count_++] = need;
        if (count_ != most) return;
        note_dependences(needs_, count_);
        count_ = 0;
    }

  private:
    static constexpr unsigned most = 16;
    TaskNeed needs_[most];
    unsigned count_ = 0;
};

/// A stretch of a task's execution, kept in the frame that calls its function, or with the thread.
struct TaskStretch {
    std::uint64_t task = 0;   // 0: it is not recorded
    std::uint64_t around = 0; // the task that the thread has executed before, and goes on with
    std::uint64_t begin = 0;  // 0: only `around` matters
    NodeId node = 0;
    bool is_resumed = false;
    bool is_counted = false;
    std::uint64_t counted[most_counters]; // counters at its begin, if it is counted
};
/// `function`: nullptr if the runtime does not tell.
void begin_stretch(TaskStretch& stretch, std::uint64_t task, const void* function, bool is_resumed) noexcept;
/// `is_over`: the task's code is; else it goes on later, perhaps on another thread.
void end_stretch(const TaskStretch& stretch, bool is_over) noexcept;

/// A taskgroup, of `task`. `frame`: of its wrapper, nullptr if there is none.
void begin_taskgroup(std::uint64_t task, void* frame) noexcept;
void end_taskgroup(std::uint64_t task) noexcept;

/// A thread's share in a parallel region: the task around it, if there is one, makes none of the tasks in it.
class ImplicitTask {
  public:
    ImplicitTask() noexcept : is_traced_(traces_tasks()) {
        if (is_traced_) [[unlikely]]
            around_ = thread_local_block.thread->events->tasks().enter(0);
    }
    ~ImplicitTask() noexcept {
        if (is_traced_ && traces_tasks()) [[unlikely]]
            thread_local_block.thread->events->tasks().enter(around_);
    }
    ImplicitTask(const ImplicitTask&) = delete;
    ImplicitTask& operator=(const ImplicitTask&) = delete;

  private:
    bool is_traced_;
    std::uint64_t around_ = 0;
};

} // namespace libprofile
