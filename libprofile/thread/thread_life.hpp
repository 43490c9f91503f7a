// What a thread's opening, pausing and closing mean to the rooms that build on threads.
// Contract: one constant table, filled by events/thread_life.cpp, the place that knows them all; each function runs with the in-tool flag
// set, for the calling thread or for one that cannot run any more.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace libprofile {

struct Thread;

struct ThreadLife {
    /// The main thread's location is open, and time loops are to be looked for.
    void (*look_for_loops)(Thread& thread) noexcept;
    /// Something is booked next that is in no log of events: a pause begins or ends. Async-signal-safe.
    void (*interrupt)(Thread& thread) noexcept;
    /// The location is closed at `now`: ends loops, iterations, regions and OpenMP waits that are open.
    void (*close)(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// The sample clock of the kernel's thread `id`; false: the kernel refused every clock.
    bool (*start_clock)(Thread& thread, pid_t id) noexcept;
    void (*stop_clock)(Thread& thread) noexcept;
};
extern const ThreadLife thread_life;

} // namespace libprofile
