// The Trace block of the profile file: the samples of one thread in the order of time.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// The knowledge about the least common ancestor of the call paths of two samples.
enum class LcaKind : std::uint8_t {
    Unknown = 0,
    Bound = 1, // an upper bound of the common frames
    Exact = 2
};

/// The samples of one thread in the order of time. Only every `stride`-th is stored.
struct TraceRecord {
    std::uint64_t thread = 0;
    std::uint64_t samples = 0; // number of samples that follow
    std::uint64_t stride = 1;
    std::uint64_t dropped = 0; // samples that are not stored
};
template <class Codec> void describe(Codec& c, TraceRecord& r) {
    c.number(r.thread);
    c.number(r.samples);
    c.number(r.stride);
    c.number(r.dropped);
}

struct TraceSampleRecord {
    std::int64_t time_difference = 0; // ns since the sample before; for the first, since the session's clock began
    std::int64_t node_difference = 0; // node id - that of the sample before (0 before the first)
    std::uint64_t lca = 0;            // depth * 4 + LcaKind
};
template <class Codec> void describe(Codec& c, TraceSampleRecord& r) {
    c.signed_number(r.time_difference);
    c.signed_number(r.node_difference);
    c.number(r.lca);
}

} // namespace libprofile
