// One measured thread: a location of the profile.
//
// Contract: used by its own thread and that thread's signal handler, with the in-tool flag set. Other threads access it only through the registry
// (thread_registry.hpp) and, at the end of the job, after its sample clock has been stopped.
#pragma once

#include "format/skip_reasons.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/base/own_cost.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/known_paths.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/thread_block.hpp"
#include "libprofile/counters/thread_counters.hpp"
#include "libprofile/phases/phase_stack.hpp"
#include "libprofile/thread/clock_state.hpp"
#include "libprofile/thread/openmp_state.hpp"
#include "libprofile/thread/partners.hpp"
#include "libprofile/thread/sample_trace.hpp"
#include "libprofile/topology/thread_affinity.hpp"
#include "libprofile/trace/event_trace.hpp"

#include <atomic>
#include <cstdint>
#include <pthread.h>
#include <sys/types.h>

namespace libprofile {

class LoopWatch;
class Regions;

/// Who wants to hear of events that have ended. One test tells whether anybody does, since every MPI call makes it.
struct alignas(2) EventListeners {
    bool order = false; // phases.hooks().order: an iteration is open
    bool trace = false; // Thread::events
    bool any() const {
        std::uint16_t both = 0;
        __builtin_memcpy(&both, this, sizeof both);
        return both != 0;
    }
};
static_assert(sizeof(EventListeners) == sizeof(std::uint16_t));

/// Reading the thread's CPU time costs 2 x 0.2 us, so it is done for calls that usually last. There it tells waiting on the processor from sleeping.
/// Shorter calls are taken to run all the time.
inline constexpr std::uint64_t long_event_ns = 50000;

/// A running MPI call of this thread. It is not kept in the wrapper's frame: an application may leave an MPI call by longjmp (error handlers, signal
/// handlers), and a frame that is gone must never be read.
struct RunningCall {
    Row* row = nullptr;                  // of its call path; nullptr if the call is not counted
    std::uint32_t* typical_ns = nullptr; // usual duration, of its known path or its node
    std::uint64_t start = 0;             // ns, when the real call began
    std::uint64_t inner = 0;             // ns of nested calls and of libprofile inside it
    std::uint64_t cpu_start = 0;         // thread CPU time at start, 0 if unknown
    std::uintptr_t frame = 0;            // of the wrapper body, or of a runtime's waiting function
    void* return_address = nullptr;

    /// It begins. A call at the end of a function, by a jump, takes over its return slot, which may be marked: the address is then the mark's.
    void begins_at(std::uintptr_t own_frame, void* address) noexcept {
        frame = own_frame;
        return_address = address != reinterpret_cast<void*>(mark_stub()) ? address : found_in_slot();
    }
    /// On this thread's stack: the return address is still in place.
    bool is_in_place() const noexcept { return found_in_slot() == return_address; }

  private:
    /// The return address as it would be without a mark.
    void* found_in_slot() const noexcept {
        const std::uintptr_t slot = return_slot(frame);
        void* const there = reinterpret_cast<void*>(code_address(*reinterpret_cast<const std::uintptr_t*>(slot)));
        if (there != reinterpret_cast<void*>(mark_stub())) return there;
        const std::uintptr_t end = stack_of_caller(frame);
        const std::uintptr_t address = end_of(own_mark()) == end ? own_mark().return_address : lost_return_address(own_mark(), end);
        return address != 0 ? reinterpret_cast<void*>(address) : there;
    }
};

/// Facts about one call site of MPI. They hold while no module is loaded or unloaded.
struct CallSite {
    const void* return_address = nullptr;
    std::uint32_t function_id = 0;
    std::uint32_t epoch = 0;  // of the load map
    bool is_helper = false;   // see is_binding_helper_call()
    NodeId function_node = 0; // without call paths
    PollStatistics polls;
    bool is_at(const void* address, std::uint32_t function, std::uint32_t now) const {
        return return_address == address && function_id == function && epoch == now;
    }
};

struct alignas(64) Thread {
    Thread() : phases(tree, arena, pool), pool(arena), tree(arena), paths(tree, arena) {}

    // Members used by every MPI call come first: these and the first members of `phases`, up to PollRun::site, are one cache line; what every poll uses
    // is the next (tests/unit/poll_run_test.cpp). known_paths and the first call are another, in the same page.
    volatile int busy = 0;            // mirrors the thread's in-tool flag, for the thread that ends the job
    std::uint32_t call_depth = 0;     // running MPI calls
    OwnCost cheap_event;              // of events whose call path need not be found
    volatile bool finished = false;   // closed: nothing is booked any more
    EventListeners listeners;         // who wants events (thread/noted_event.hpp)
    std::uint64_t paths_repeated = 0; // calls whose path was known without a walk
    PhaseStack phases;
    /// Whether nothing may be booked: closed, or recording was off at the last look (recording.hpp). One test, since every MPI call makes it.
    bool is_silent() const { return (static_cast<int>(finished) | static_cast<int>(phases.time().is_paused())) != 0; }

    /// Whether an MPI call may begin now without further questions: none runs, nor a run of polls, and the thread is not silent.
    bool is_ready() const {
        const WallLedger& time = phases.time();
        return (call_depth | static_cast<std::uint32_t>(finished) | static_cast<std::uint32_t>(time.is_paused()) |
                reinterpret_cast<std::uintptr_t>(time.polls().site)) == 0;
    }

    alignas(64) KnownPathTable known_paths;
    static constexpr std::uint32_t max_calls = 16;
    RunningCall calls[max_calls]; // nested MPI calls (an application's calls from inside MPI callbacks)

    Arena arena;
    Pool pool;
    CallTree tree;
    PathTracker paths;

    LoopWatch* loops = nullptr; // looks for the time loop, unless nullptr
    Regions* regions = nullptr; // libprofile/regions/regions.hpp; nullptr until the first region

    Thread* next_free = nullptr;
    std::uint32_t index = 0; // 0 = the main thread
    std::uint64_t started_at = 0;
    std::uint64_t ended_at = 0;

    static constexpr std::size_t known_sites = 128;
    CallSite sites[known_sites]; // by return address

    /// Drops calls that were left without returning, seen from a frame at address `frame` of this thread's stack. A live call lies above it, and its
    /// return address is still in place. A wait for a lock that has returned so was no wait.
    void drop_left_calls(std::uintptr_t frame) noexcept {
        while (call_depth != 0) {
            const RunningCall& call = calls[call_depth - 1];
            if (!is_own_stack(frame) || !is_own_stack(call.frame)) break; // addresses of two stacks cannot be compared
            if (call.frame > frame && call.is_in_place()) break;
            --call_depth;
        }
        if (call_depth == 0 && openmp.wait.may_be_over) [[unlikely]]
            openmp.wait = {};
    }

    /// A jump goes to `target`, a stack pointer of this thread's stack: calls that were made below it are left. drop_left_calls() would not see that,
    /// once the same function runs again and has the same return address in the same place.
    void leave_calls_to(std::uintptr_t target) noexcept {
        while (call_depth != 0 && is_own_stack(calls[call_depth - 1].frame) && calls[call_depth - 1].frame <= target) --call_depth;
    }

    /// Another event begins, so a wait that may be over is over. Not for samples: they hit in such waits, too.
    void drop_doubtful_wait() noexcept {
        if (!openmp.wait.may_be_over) [[likely]]
            return;
        call_depth = 0;
        openmp.wait = {};
    }
    /// Does both, when an event of the program's own begins.
    void drop_ended_calls(std::uintptr_t frame) noexcept {
        drop_doubtful_wait();
        drop_left_calls(frame);
    }

    OpenMpState openmp;

    bool in_checkpoint = false; // was closed when the running checkpoint began

    const Mark* mark = nullptr;       // in the thread's thread-local block
    std::atomic<bool> claimed{false}; // its own end, or the end of the job, closes it
    struct Scratch {
        void* pages = nullptr;
        std::uint64_t size = 0;
    };
    Scratch scratch[max_calls]; // one for each running call; see MpiEvent::scratch()
    Partners partners;
    std::uint64_t requests_lost = 0;   // messages not counted: no memory to remember the requests
    std::uint64_t operations_lost = 0; // MPI_Op_create of more functions than are followed

    // The last reading of the thread's CPU time, and when it was taken.
    std::uint64_t cpu_mark = 0;
    std::uint64_t cpu_mark_at = 0;
    void mark_cpu(std::uint64_t at, std::uint64_t cpu) {
        cpu_mark_at = at;
        cpu_mark = cpu;
    }
    /// Returns the CPU time at a moment, given that it is `cpu` now. The thread is taken to have run from the last reading until then.
    std::uint64_t cpu_until(std::uint64_t at, std::uint64_t cpu) const {
        const std::uint64_t at_moment = cpu_mark + (at > cpu_mark_at ? at - cpu_mark_at : 0);
        return at_moment < cpu ? at_moment : cpu;
    }
    /// Returns the cost of our own work between `from` and `until`. Time in which others had the processor is no cost. Only long work is asked about,
    /// since the reading is expensive. Exact if the CPU time was read at `from`.
    std::uint64_t own_time(std::uint64_t from, std::uint64_t until) noexcept;
    /// The same if `cpu` is the thread's CPU time at `until`. Before any reading it has used at most all of that.
    std::uint64_t own_time(std::uint64_t from, std::uint64_t until, std::uint64_t cpu) const noexcept {
        const std::uint64_t used = cpu_mark == 0 ? cpu : cpu - cpu_until(from, cpu);
        const std::uint64_t wall = until - from;
        return used < wall ? used : wall;
    }

    ThreadAffinity affinity;
    ThreadCounters counters; // on with LIBPROFILE_METRICS; booked by thread/counting.hpp

    // Sampling.
    ClockState clock;
    SampleTrace trace;            // on with LIBPROFILE_TRACE
    EventTrace* events = nullptr; // with LIBPROFILE_TRACE=events
    std::uint64_t samples_taken = 0;
    std::uint64_t samples_lost = 0;
    std::uint64_t skipped[skip_reason_count] = {}; // of those taken: without a call path of their own
    std::uint64_t skipped_for(SkipReason reason) const { return skipped[static_cast<std::size_t>(reason)]; }
    void skip(SkipReason reason) noexcept { ++skipped[static_cast<std::size_t>(reason)]; }
};

/// Whether the thread is inside libprofile, by its flag, seen from a frame at `frame`. An application's signal handler may have left by siglongjmp: a
/// frame that still counts lies above ours.
[[gnu::cold]] bool is_still_inside(std::uintptr_t frame) noexcept;

/// Sets the in-tool flag, from a frame at `frame`; nests. Returns the value that leave_tool() must restore. `own`: the calling thread's location, or
/// nullptr.
inline int enter_tool(std::uintptr_t frame, Thread* own) noexcept {
    ThreadLocal& local = thread_local_block;
    int before = local.in_tool;
    if (before != 0 && !is_still_inside(frame)) [[unlikely]]
        before = 0;
    if (before == 0) [[likely]]
        local.tool_frame = frame;
    local.in_tool = before + 1;
    if (own != nullptr) own->busy = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return before;
}
inline int enter_tool(std::uintptr_t frame) noexcept { return enter_tool(frame, thread_local_block.thread); }
inline void leave_tool(int before, Thread* own) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (own != nullptr) own->busy = before;
    thread_local_block.in_tool = before;
}
/// The thread may have got its location inside the scope.
inline void leave_tool(int before) noexcept { leave_tool(before, thread_local_block.thread); }

/// The same two for a caller that knows that the thread is outside libprofile, and has its location.
inline void enter_tool_first(std::uintptr_t frame, Thread& own) noexcept {
    thread_local_block.tool_frame = frame;
    thread_local_block.in_tool = 1;
    own.busy = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void leave_tool_last(Thread& own) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    own.busy = 0;
    thread_local_block.in_tool = 0;
}

/// Marks the scope as inside libprofile. Nests. InToolOf does the same for callers that have the calling thread's location.
class InTool {
  public:
    InTool() noexcept : before_(enter_tool(reinterpret_cast<std::uintptr_t>(this))) {}
    ~InTool() noexcept { leave_tool(before_); }
    /// The thread was already inside.
    bool is_nested() const noexcept { return before_ != 0; }
    InTool(const InTool&) = delete;
    InTool& operator=(const InTool&) = delete;

  private:
    int before_;
};

class InToolOf {
  public:
    explicit InToolOf(Thread& own) noexcept : own_(own), before_(enter_tool(reinterpret_cast<std::uintptr_t>(this), &own)) {}
    ~InToolOf() noexcept { leave_tool(before_, &own_); }
    bool is_nested() const noexcept { return before_ != 0; }
    InToolOf(const InToolOf&) = delete;
    InToolOf& operator=(const InToolOf&) = delete;

  private:
    Thread& own_;
    int before_;
};

} // namespace libprofile
