// What a thread knows of the explicit tasks of a runtime with OMPT: which ones it executes, and in a trace of events their numbers.
// Contract: belongs to one thread, called by the runtime's callbacks on it; zero-filled memory is one without tasks; memory from the thread's arena.
// Nothing throws.
//
// A task that a thread is given while it waits interrupts the wait. In a trace of events each stretch of execution is noted, too.
//
// The runtime keeps 8 bytes of ours with each task: that it is an explicit one, whether it has run, and its number in a trace of events. The runtime may go
// on with an untied task on any thread, whenever it comes to a wait or makes a task; such a task is entered and left several times. A task that waits while
// another one runs on its thread is not left: its stack stands below the other's.
//
// An untied task is a row of parts. Each puts the next one into a queue before it returns. If another thread executes that, the last one, before the first
// thread gets on, the runtime tells the end of the task on the first thread, and nothing on the other. What that one does next shows it: see_current().
#pragma once

#include "libprofile/events/openmp_events.hpp"
#include "libprofile/events/openmp_tasks.hpp"

#include <cstdint>

namespace libprofile {

union OmptData {
    std::uint64_t value;
    void* ptr;
};
struct OmptDependence {
    OmptData variable;
    int kind;
};

class OmptTasks {
  public:
    /// The data of an explicit task: this one, and what belongs to it.
    static constexpr std::uint64_t explicit_task = std::uint64_t{1} << 63;
    static bool is_explicit(const OmptData& task) noexcept { return (task.value & explicit_task) != 0; }
    /// 0 of other tasks, and of those that are not recorded.
    static std::uint64_t number_of(const OmptData& task) noexcept { return is_explicit(task) ? task.value & ~(explicit_task | has_run) : 0; }

    /// It belongs to another thread now.
    void begin_again() noexcept {
        last_made_ = in_loop_ = nullptr;
        count_ = share_at_ = 0;
    }
    /// A task was made. `flags` of OMPT, `frame` of the callback.
    void create(const OmptData* creator, OmptData* task, unsigned flags, const void* return_address, void* frame) noexcept;
    /// At once after it.
    void depend(const OmptData* task, const OmptDependence* list, unsigned count) noexcept;
    /// `task` begins or ends a taskloop.
    void see_taskloop(bool begins, const OmptData* task) noexcept { in_loop_ = begins ? task : nullptr; }

    bool is_in_none() const noexcept { return count_ == 0; }
    /// The thread executes `task`, an explicit one or that of its share: tasks that have begun behind it are over.
    void see_current(const OmptData* task) noexcept;
    /// Its share in a parallel region: tasks that it executes are around it, if it is the region's master. Returns what end_share() wants.
    unsigned begin_share(bool is_master) noexcept;
    void end_share(unsigned around) noexcept;
    /// A thread has begun it, and this one does not execute it.
    bool has_begun_elsewhere(const OmptData& task) const noexcept { return (task.value & has_run) != 0 && is_explicit(task) && !is_running(&task); }
    /// The thread turns from a task to another one: it may have left the first, or begin the second. In this order. `next`: nullptr if it is not known.
    /// `frame`: from which the task's function is called, or from further inside.
    void leave(const OmptData* before, bool is_over, const OmptData* next) noexcept;
    void enter(OmptData* next, void* frame) noexcept;

  private:
    static constexpr std::uint64_t has_run = std::uint64_t{1} << 62;
    struct Running {
        const OmptData* task;
        bool was_waiting; // the thread, when it was given the task
        PausedWait paused;
        TaskStretch stretch;
    };
    bool is_running(const OmptData* task) const noexcept;
    void end_innermost(bool is_over) noexcept;
    void drop(unsigned left) noexcept;

    const OmptData* last_made_; // its number is that of the creation that was noted last
    const OmptData* in_loop_;   // the task that is in a taskloop
    unsigned count_;            // tasks inside each other
    unsigned share_at_;         // those before are around the thread's innermost share
    StableArray<Running, 3> running_;
};

} // namespace libprofile
