// The Clock block of the profile file: what brings the times of a rank (Begins, Trace, Waits) to one axis with those of other ranks.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// The monotonic clock is the kernel's, CLOCK_MONOTONIC. The rank's own clock may be the time stamp counter, whose rate was measured over 2 ms at
/// the start. That is short by up to some 10 us a second, so what both clocks showed at the end is there, too.
struct ClockRecord {
    std::uint64_t id = 0;             // equal for ranks that have the same monotonic clock; 0: not known
    std::uint64_t origin_ns = 0;      // what that clock showed when the rank's own clock began
    std::uint64_t main_ns = 0;        // when the time of the rank's main thread began, on its own clock
    std::uint64_t own_ns = 0;         // the last reading of both: the rank's own clock,
    std::uint64_t monotonic_ns = 0;   // and the monotonic one since the origin
    std::uint64_t is_measured = 0;    // 1: the next two are known
    std::int64_t offset_ns = 0;       // what the monotonic clock of the job shows when this one shows 0
    std::uint64_t uncertainty_ns = 0; // of the offset, either way
};
template <class Codec> void describe(Codec& c, ClockRecord& r) {
    c.number(r.id);
    c.number(r.origin_ns);
    c.number(r.main_ns);
    c.number(r.own_ns);
    c.number(r.monotonic_ns);
    c.number(r.is_measured);
    c.signed_number(r.offset_ns);
    c.number(r.uncertainty_ns);
}

} // namespace libprofile
