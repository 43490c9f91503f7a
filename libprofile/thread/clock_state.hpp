// The state of the clock that times a thread's samples.
// Contract: plain data. Written by the thread that starts or stops the clock, in between only by the thread's own signal handler.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/thread/sample_rate.hpp"

#include <cstdint>
#include <ctime>

namespace libprofile {

struct ClockState {
    SamplingClock kind = SamplingClock::None; // times the samples, or did so last
    bool claimed = false;                     // a thread has started or is starting it
    volatile bool running = false;
    bool has_timer = false;
    bool was_lost = false;     // the application closed the perf counter; the CPU timer took over
    timer_t timer = nullptr;   // with a perf counter: its beat (sample_clock.hpp)
    int file = -1;             // of the perf counter
    std::uint64_t file_id = 0; // the kernel's number of the counter: tells whether `file` is still ours
    SampleRate rate;
    std::uint32_t unseen_ns = 0;  // of a sample: the kernel's work for the clock and the signal, and the return from the handler
    std::uint64_t last = 0;       // reading at the previous sample: thread CPU time, or the time stamp for wall time
    std::uint64_t weighed_ns = 0; // that all samples stand for
    // Of a perf counter, which is silent in the kernel:
    std::uint64_t hidden = 0;  // ns: periods that ended without a signal and are not given to a sample yet
    std::uint64_t in_tool = 0; // ns: intervals since the previous sample whose signals hit libprofile
};

/// Reads what a sample needs: the thread's CPU time, or the time stamp if wall time is sampled. A sample stands for the time since the previous
/// reading.
inline std::uint64_t reading_of(const ClockState& clock, std::uint64_t now, std::uint64_t cpu) noexcept {
    return clock.kind == SamplingClock::Wall ? now : cpu;
}

} // namespace libprofile
