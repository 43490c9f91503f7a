// What libprofile takes of an event that its readings of the clock around the event do not see: entering and leaving a call.
// Added to what they see, so that the times of "(libprofile)" are what the job has lost. For samples: ClockState::unseen_ns.
// Contract: plain numbers, async-signal-safe to read. Written once, by the thread that begins the measurement (events/calibration.hpp), before
// they matter. Until then, and where nothing can be measured, they are those of one machine
// (docs/overhead-measurements.md).
#pragma once

#include <cstdint>

namespace libprofile {

struct UnseenCost {
    std::uint32_t call_ns = 0; // of an MPI call, with what is taken for the time of the call itself (ProcessState::clock_reading_ns)
    std::uint32_t poll_ns = 0; // of a poll that is only counted: all of it
};
extern UnseenCost unseen_cost;

} // namespace libprofile
