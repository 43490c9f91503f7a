// The ShortThreads block of the profile file: threads that ended without any data. One for each rank with such threads.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Threads that ended without a sample, an MPI call, a marker or a region; they are no locations.
struct ShortThreadsRecord {
    std::uint64_t threads = 0;
    std::uint64_t cpu_ns = 0; // processor time by their own clocks; contained in no other number of the file
};
template <class Codec> void describe(Codec& c, ShortThreadsRecord& r) {
    c.number(r.threads);
    c.number(r.cpu_ns);
}

} // namespace libprofile
