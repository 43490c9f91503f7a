// The OpenMp block of the profile file: what could not be measured of parallel regions. One for each rank that had some.
// Contract: plain data; no allocation; `describe` runs with an Encoder or with a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Counts are sums over the rank's threads.
struct OpenMpRecord {
    std::uint64_t regions = 0;         // encountered and measured
    std::uint64_t workers = 0;         // threads that worked in regions of others
    std::uint64_t regions_refused = 0; // encountered where none can be measured: nested too deep, inside another event, on a foreign stack
    std::uint64_t shares_refused = 0;  // threads' parts of measured regions, for the same reasons
    std::uint64_t waits_refused = 0;   // waits inside another event: part of its time, and no visits of their own
    std::uint64_t phases_missed = 0;   // changes of the main thread's phases that workers could not follow
};
template <class Codec> void describe(Codec& c, OpenMpRecord& r) {
    c.number(r.regions);
    c.number(r.workers);
    c.number(r.regions_refused);
    c.number(r.shares_refused);
    c.number(r.waits_refused);
    c.number(r.phases_missed);
}

} // namespace libprofile
