// The ShortThreads block of the profile file: threads that came and went without anything to show. One for each rank that had some.
// Contract: plain data; no allocation; `describe` runs with an Encoder or with a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Ended without a sample, an MPI call, a marker or a region, so they are no locations.
struct ShortThreadsRecord {
    std::uint64_t threads = 0;
    std::uint64_t cpu_ns = 0; // processor time, by their own clocks; in no other number of the file
};
template <class Codec> void describe(Codec& c, ShortThreadsRecord& r) {
    c.number(r.threads);
    c.number(r.cpu_ns);
}

} // namespace libprofile
