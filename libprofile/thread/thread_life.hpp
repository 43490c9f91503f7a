// Links to later rooms, which act when a thread opens, pauses or closes.
// Contract: one constant table, filled by events/thread_life.cpp, which includes them all. Each function but the first runs with the in-tool flag set, for the
// calling thread or for one that cannot run any more.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace libprofile {

struct Thread;

struct ThreadLife {
    /// The main thread, on which this runs, is about to measure. Called with the in-tool flag not set.
    void (*calibrate)(Thread& thread) noexcept;
    /// The main thread's location is open. Time loops are to be looked for.
    void (*look_for_loops)(Thread& thread) noexcept;
    /// An event that is in no log will be booked next: a pause begins or ends. Async-signal-safe.
    void (*interrupt)(Thread& thread) noexcept;
    /// The location is closed at `now`: ends open loops, iterations, regions and OpenMP waits.
    void (*close)(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept;
    /// Starts the sample clock of the kernel's thread `id`. Returns false if the kernel refused every clock.
    bool (*start_clock)(Thread& thread, pid_t id) noexcept;
    void (*stop_clock)(Thread& thread) noexcept;
};
extern const ThreadLife thread_life;

} // namespace libprofile
