// The number of the processor on which the calling thread runs.
// Contract: thread-safe, async-signal-safe, never allocates; but resolve_processor_number() calls dlsym(). Costs 1 to 4 ns.
//
// The kernel keeps the number in the thread's rseq area (Linux 4.18, glibc 2.35). sched_getcpu() reads it there, too, by way of further lines of code and
// data, for which events with cold caches would wait.
#pragma once

#include "libprofile/base/arch/processor.hpp"
#include "libprofile/base/process_state.hpp"

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <sched.h>

namespace libprofile {

/// Called by the constructor of the library.
inline void resolve_processor_number() noexcept {
    const void* const offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    if (offset != nullptr) process_state.rseq_offset = *static_cast<const std::ptrdiff_t*>(offset);
}

/// Below 0 if the kernel does not tell.
inline int processor_number() noexcept {
    if (const std::ptrdiff_t offset = process_state.rseq_offset; offset != 0) [[likely]] {
        // Member cpu_id of struct rseq; below 0 while the area is not the kernel's.
        const std::int32_t number = read_thread_word<4>(offset);
        if (number >= 0) [[likely]]
            return number;
    }
    return sched_getcpu();
}

} // namespace libprofile
