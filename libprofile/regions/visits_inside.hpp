// Visits to regions that cannot be followed: their thread is inside libprofile at that moment, because a signal handler of the application has
// interrupted it, and the data that a hook would change are being changed. The visits are counted for the whole process: the thread may have
// no location yet, and one counter is enough.
// Contract: any thread, async-signal-safe, no allocation, general registers only (it is compiled into the gate of the sleds). Counts entries
// only; their exits find the thread inside as well.
#pragma once

#include "libprofile/thread/thread.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

inline constinit std::atomic<std::uint64_t> visits_inside{0};

/// Counts if recording is on. Visits after the thread was closed are no loss: the measurement is over.
[[gnu::always_inline]] inline void count_visit_inside() noexcept {
    const Thread* thread = thread_local_block.thread;
    if (thread_local_block.ended || (thread != nullptr && thread->finished)) return;
    visits_inside.fetch_add(1, std::memory_order_relaxed);
}

} // namespace libprofile
