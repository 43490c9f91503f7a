// The OpenMp block of the profile file: the losses in measuring parallel regions. One for each rank with parallel regions.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Counts are sums over the rank's threads.
struct OpenMpRecord {
    std::uint64_t regions = 0;         // encountered and measured
    std::uint64_t workers = 0;         // threads that worked in regions of others
    std::uint64_t regions_refused = 0; // encountered where they cannot be measured: nested too deep, inside another event, on a foreign stack
    std::uint64_t shares_refused = 0;  // threads' parts of measured regions, for the same reasons
    std::uint64_t waits_refused = 0;   // waits inside another event: part of its time, without visits of their own
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
