// One measured thread (a location of the profile), and the thread-local block that finds it.
//
// Contract: a Thread is used by its own thread and its signal handler, with the in-tool flag set; other threads touch
// it only through the registry (thread_registry.hpp) and, at the end of the job, after its timer has been stopped.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/phases/phase_stack.hpp"
#include "libprofile/session/memory.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <sys/types.h>

namespace libprofile {

class MpiEvent;

struct Thread {
    Thread() : pool(arena), tree(arena), phases(tree, arena, pool) {}

    Arena arena;
    Pool pool;
    CallTree tree;
    PhaseStack phases;
    RawPath path;

    std::uint32_t index = 0; // 0 = the main thread
    std::uint64_t started_at = 0;
    std::uint64_t ended_at = 0;
    bool finished = false;

    MpiEvent* event = nullptr; // innermost MPI call, counted or not
    void* scratch = nullptr;   // see mpi_scratch()
    std::uint64_t scratch_size = 0;

    // The last reading of the thread's CPU time, and when it was taken.
    std::uint64_t cpu_mark = 0;
    std::uint64_t cpu_mark_at = 0;
    void mark_cpu(std::uint64_t at, std::uint64_t cpu) {
        cpu_mark_at = at;
        cpu_mark = cpu;
    }

    // Sampling.
    timer_t timer = nullptr;
    bool timer_running = false;
    std::uint64_t last_sample_cpu = 0;
    std::uint64_t samples_taken = 0;
    std::uint64_t samples_lost = 0;
    std::uint64_t samples_in_tool = 0; // hit libprofile itself; taken, shown at the "(libprofile)" node
};

/// The only thread-local storage of the library: one small block, reached without a call.
struct ThreadLocal {
    Thread* thread;
    volatile int in_tool; // > 0: this thread is inside libprofile; its signal handler must touch nothing
    bool ended;           // the thread's location is closed, or must never be opened
    struct ThreadStart* start;
    std::uintptr_t stack_base; // 0: not known
};
extern constinit thread_local ThreadLocal thread_local_block __attribute__((tls_model("initial-exec")));

/// Marks the scope as inside libprofile. Nests.
class InTool {
  public:
    InTool() noexcept {
        thread_local_block.in_tool = thread_local_block.in_tool + 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~InTool() noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        thread_local_block.in_tool = thread_local_block.in_tool - 1;
    }
    InTool(const InTool&) = delete;
    InTool& operator=(const InTool&) = delete;
};

} // namespace libprofile
