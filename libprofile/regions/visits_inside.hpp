// Visits to regions that cannot be followed, since their thread is inside libprofile at that moment: a signal handler of the application
// has interrupted it, and what a hook would change is being changed. They are counted for the whole process: the thread may have no
// location yet, and counting needs no more than this.
// Contract: any thread, async-signal-safe, no allocation, general registers only (it is compiled into the gate of the sleds). Entries
// only; their exits find the thread inside as well.
#pragma once

#include "libprofile/thread/thread.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

inline constinit std::atomic<std::uint64_t> visits_inside{0};

/// Where recording is on. What comes after the thread was closed is not lost: it is after the measurement.
[[gnu::always_inline]] inline void count_visit_inside() noexcept {
    const Thread* thread = thread_local_block.thread;
    if (thread_local_block.ended || (thread != nullptr && thread->finished)) return;
    visits_inside.fetch_add(1, std::memory_order_relaxed);
}

} // namespace libprofile
