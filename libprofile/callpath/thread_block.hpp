// The thread-local block: data that a thread reaches without a call.
// Contract: used by its own thread and that thread's signal handler only. initial-exec, so reaching it never allocates.
#pragma once

#include "libprofile/callpath/mark.hpp"

#include <cstdint>

namespace libprofile {

struct Thread;      // thread/thread.hpp
struct ThreadStart; // thread/thread_registry.hpp

/// The data that MPI calls use come first, up to the mark's index, and fill one cache line.
struct alignas(64) ThreadLocal {
    Thread* thread;
    volatile int in_tool;      // > 0 while this thread is inside libprofile; its signal handler must touch nothing
    std::uintptr_t tool_frame; // where in_tool became 1
    std::uintptr_t stack_low;  // the thread's own stack, 0 if unknown
    std::uintptr_t stack_base;
    Mark mark;
    ThreadStart* start;
    bool ended;                 // the thread's location is closed, or must never be opened
    std::uint32_t traced_since; // the load epoch when libunwind's cache of this thread was empty, 0 if it still is
};
extern constinit thread_local ThreadLocal thread_local_block __attribute__((tls_model("initial-exec")));

inline Mark& own_mark() noexcept { return thread_local_block.mark; }

/// Returns true if `address` lies on the calling thread's own stack; false if that is unknown (alternate stacks, coroutines).
inline bool is_own_stack(std::uintptr_t address) noexcept { return address >= thread_local_block.stack_low && address < thread_local_block.stack_base; }

} // namespace libprofile
