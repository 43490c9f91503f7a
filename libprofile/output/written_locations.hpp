// The threads of this process that are written.
// Contract: used by the thread that writes.
#pragma once

#include "libprofile/thread/thread_registry.hpp"

#include <cstdint>

namespace libprofile {

/// A thread that continues after it has been written: the calling one, settled at `now` (PhaseStack::settle).
struct RunningThread {
    Thread* thread = nullptr;
    std::uint64_t now = 0;
};

/// Calls visit(thread, its end) for every location that may be read; during one checkpoint always for the same ones.
template <class F> void for_each_location(RunningThread running, F visit) {
    if (running.thread != nullptr) visit(*running.thread, running.now);
    thread_registry.for_each_closed([&](Thread& thread) {
        if (running.thread == nullptr || thread.in_checkpoint) visit(thread, thread.ended_at);
    });
}

} // namespace libprofile
