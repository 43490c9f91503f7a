// The interface between the OpenMP wrappers (wrappers/openmp) and the runtime.
//
// Contract: every function may be called before the constructor of the library, at any time after the end of the measurement, on any
// thread. None throws or touches the application's malloc; none is called by a signal handler.
//
// A region:      begin_region() on the master, begin_share()/end_share() around the outlined function on every thread of the team,
//                end_region() on the master. What its threads do in between hangs below the region's call path, also in the workers'
//                trees, into which that path is copied.
// The end of a share begins a wait: for the master it ends with the region. A worker is not told when its barrier is over, only when its
//                next share begins. So its wait is split at the time at which the master went on: until then it was the barrier,
//                afterwards the worker was idle.
//                A master that is the whole team does not wait: its share says so, and no clock is read.
// Another wait:  begin_event()/end_event(); count_event() where there was nothing to wait for.
// A task:        begin_task()/end_task(), since a thread that waits may be given one to do meanwhile.
#pragma once

#include "libprofile/base/process_state.hpp"
#include "libprofile/events/openmp_constructs.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// Whether wrappers are to do anything. One load.
inline bool openmp_is_recorded() noexcept { return process_state.session.load(std::memory_order_acquire) == SessionState::Measuring; }

/// `return_address` and `frame` of the wrapper, as for MpiEvent. `frame_address`: what the stack has below it is inside the region; where the
/// wrapper does not stay while the region runs that is not its frame.
/// A region is refused, and counted, where one more cannot be kept: nested too deep, inside another event (an MPI callback, a task that counts
/// as waiting), on a stack that is not the thread's own.
void begin_region(ParallelRegion& region, const void* return_address, void* frame, void* frame_address) noexcept;
void end_region(ParallelRegion& region) noexcept;
/// begin_share() for threads that are not the region's master, or do not know; end_share() where there is a team to wait for.
void begin_any_share(RegionShare& share, const ParallelRegion& region, void* frame) noexcept;
void end_shared_share(RegionShare& share, const ParallelRegion& region) noexcept;
/// `frame` of the trampoline that calls the outlined function. Of a refused region, it only ends the wait that a worker is in.
inline void begin_share(RegionShare& share, const ParallelRegion& region, void* frame) noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || thread != region.master) return begin_any_share(share, region, frame);
    share.thread = thread;
    share.is_master = true;
}
inline void end_share(RegionShare& share, const ParallelRegion& region) noexcept {
    if (share.thread == nullptr) [[unlikely]]
        return;
    if (!share.is_alone) return end_shared_share(share, region);
    share.thread->openmp.alone = region.number; // the rest is done with the end of the region
}
/// There is no room to remember what has begun: it is not measured, and counted as such. Only for these two, at once after their beginning.
void give_up_region(ParallelRegion& region) noexcept;
void give_up_share(RegionShare& share) noexcept;
/// The calling worker works in a region that is not measured: what it has waited for is over.
void begin_refused_share() noexcept;

/// A visit to what was not waited for: of a lock that was free, or in a team of one thread.
void count_in_frame(OpenMpConstruct construct, const void* return_address, void* frame) noexcept;
/// Not a jump, though the last thing that a wrapper does: its frame must still be there.
[[gnu::always_inline]] inline void count_event(OpenMpConstruct construct, const void* return_address, void* frame) noexcept {
    count_in_frame(construct, return_address, frame);
    __asm__ volatile("" ::: "memory");
}

/// One wait. Visits are counted, time is exact. `waiting`: the frame of the function that waits, whose return address follows it;
/// nullptr if it is not known. Returns true if the wait has begun: then the same thread must call end_event().
bool begin_event(OpenMpConstruct construct, const void* return_address, void* frame, void* waiting) noexcept;
void end_event() noexcept;

/// The same, from the entry of its wrapper to its return.
class OpenMpEvent {
  public:
    OpenMpEvent(OpenMpConstruct construct, const void* return_address, void* frame) noexcept
        : has_begun_(begin_event(construct, return_address, frame, frame)) {}
    ~OpenMpEvent() noexcept {
        if (has_begun_) end_event();
    }
    OpenMpEvent(const OpenMpEvent&) = delete;
    OpenMpEvent& operator=(const OpenMpEvent&) = delete;

  private:
    bool has_begun_;
};

/// `frame` of the trampoline that calls the task. Returns true if the thread was waiting: then end_task() must be called.
bool begin_task(PausedWait& paused, void* frame) noexcept;
void end_task(const PausedWait& paused) noexcept;
/// In place of end_task(), where it is not known when the task was over.
void forget_task(const PausedWait& paused) noexcept;

/// The thread's location is closed at `now`: what it waits for is over.
void close_openmp(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;

} // namespace libprofile
