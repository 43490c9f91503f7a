// What a thread remembers of the clock that times its samples.
// Contract: plain data. Written by the thread that starts or stops the clock, and in between by the thread's own signal
// handler only.
#pragma once

#include "format/profile_file.hpp"

#include <cstdint>
#include <ctime>

namespace libprofile {

struct ClockState {
    SamplingClock kind = SamplingClock::None; // what times the samples, or did so last
    bool claimed = false;                     // somebody has started or is starting it
    volatile bool running = false;
    bool has_timer = false;
    bool was_lost = false;     // the application closed the perf counter; the CPU timer took over
    timer_t timer = nullptr;   // beside a perf counter: its beat (sample_clock.hpp)
    int file = -1;             // of the perf counter
    std::uint64_t file_id = 0; // the kernel's number of the counter, which tells whether `file` is still ours
    std::uint64_t last = 0;    // reading at the previous sample: thread CPU time; wall: time stamp
    // Of a perf counter, which is silent in the kernel:
    std::uint64_t hidden = 0;  // ns: periods that ended without a signal, not given to a sample yet
    std::uint64_t in_tool = 0; // signals since the previous sample that hit libprofile
};

/// What a sample reads: the thread's CPU time, or the time stamp when wall time is sampled. The sample stands for what has
/// passed since the previous reading.
inline std::uint64_t reading_of(const ClockState& clock, std::uint64_t now, std::uint64_t cpu) noexcept {
    return clock.kind == SamplingClock::Wall ? now : cpu;
}

} // namespace libprofile
