// What a thread knows of the explicit tasks of a runtime with OMPT, in a trace of events: their numbers, and which ones it executes.
// Contract: belongs to one thread, called by the runtime's callbacks on it; memory from the thread's arena. Nothing throws.
//
// The runtime keeps 8 bytes of ours with each task. In a trace of events they have its number, and whether it has run. It may go on with an untied task on
// any thread, whenever it comes to a wait or makes a task; such a task is entered and left several times. A task that waits while another one runs on its
// thread is not left: its stack stands below the other's.
//
// An untied task is a row of parts. Each puts the next one into a queue before it returns. If another thread executes that, the last one, before the first
// thread gets on, the runtime tells the end of the task on the first thread, and nothing on the other. What that one does next shows it: see_current().
#pragma once

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
    /// The data of an explicit task: this one without a number, else `is_numbered` and what belongs to it.
    static constexpr std::uint64_t explicit_task = 1;
    static bool is_explicit(const OmptData& task) noexcept { return task.value == explicit_task || (task.value & is_numbered) != 0; }
    /// 0 of other tasks, and of those that are not recorded.
    static std::uint64_t number_of(const OmptData& task) noexcept { return (task.value & is_numbered) != 0 ? task.value & ~(is_numbered | has_run) : 0; }

    /// Returns nullptr if memory is short.
    static OmptTasks* create(Thread& thread) noexcept;

    /// A task was made. `flags` of OMPT, `frame` of the callback.
    void create(const OmptData* creator, OmptData* task, unsigned flags, const void* return_address, void* frame) noexcept;
    /// At once after it.
    void depend(const OmptData* task, const OmptDependence* list, unsigned count) noexcept;
    /// `task` begins or ends a taskloop.
    void see_taskloop(bool begins, const OmptData* task) noexcept;
    /// The thread executes `task`, an explicit one or that of its share: tasks that have begun behind it are over.
    void see_current(const OmptData* task) noexcept;
    /// Its share in a parallel region: tasks that it executes are around it, if it is the region's master. Returns what end_share() wants.
    unsigned begin_share(bool is_master) noexcept;
    void end_share(unsigned around) noexcept;
    /// A thread has begun it, and this one does not execute it.
    bool has_begun_elsewhere(const OmptData& task) const noexcept;
    /// The thread turns from a task to another one: it may have left the first, or begin the second. In this order. `next`: nullptr if it is not known.
    void leave(const OmptData* before, bool is_over, const OmptData* next) noexcept;
    void enter(OmptData* next) noexcept;

  private:
    static constexpr std::uint64_t is_numbered = std::uint64_t{1} << 63, has_run = std::uint64_t{1} << 62;
    static constexpr unsigned most = 256; // tasks inside each other; farther inside they are not recorded
    struct Running {
        const OmptData* task;
        TaskStretch stretch;
    };
    bool is_running(const OmptData* task) const noexcept;

    const OmptData* last_made_ = nullptr; // its number is that of the creation that was noted last
    const OmptData* in_loop_ = nullptr;   // the task that is in a taskloop
    unsigned count_ = 0;                  // some may be beyond `most`
    unsigned share_at_ = 0;               // those before are around the thread's innermost share
    Running running_[most];
};

} // namespace libprofile
