// The thread-local block: what a thread reaches without a call.
// Contract: used by its own thread and that thread's signal handler only. initial-exec, so reaching it never allocates.
#pragma once

#include "libprofile/callpath/mark.hpp"

#include <cstdint>

namespace libprofile {

struct Thread;      // thread/thread.hpp
struct ThreadStart; // thread/thread_registry.hpp

/// What a thread keeps in thread-local storage: one small block, reached without a call. What MPI calls use lies in its first
/// cache line, as far as the mark's index.
struct alignas(64) ThreadLocal {
    Thread* thread;
    volatile int in_tool;      // > 0: this thread is inside libprofile; its signal handler must touch nothing
    std::uintptr_t tool_frame; // where in_tool became 1
    std::uintptr_t stack_low;  // the thread's own stack, 0 when not known
    std::uintptr_t stack_base;
    Mark mark;
    ThreadStart* start;
    bool ended; // the thread's location is closed, or must never be opened
};
extern constinit thread_local ThreadLocal thread_local_block __attribute__((tls_model("initial-exec")));

inline Mark& own_mark() noexcept { return thread_local_block.mark; }

/// `address` lies on the calling thread's own stack; false when that is not known (alternate stacks, coroutines).
inline bool is_own_stack(std::uintptr_t address) noexcept { return address >= thread_local_block.stack_low && address < thread_local_block.stack_base; }

} // namespace libprofile
