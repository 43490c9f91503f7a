// The Trace and Waits blocks of the profile file: the samples of one thread in the order of time, and its long MPI calls and OpenMP waits.
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

/// The long calls of MPI and waits of OpenMP of a thread that has a Trace, in the order of their ends. None overlaps another.
struct WaitsRecord {
    std::uint64_t thread = 0;
    std::uint64_t waits = 0;              // number of waits that follow
    std::uint64_t dropped = 0;            // that are not stored, of those of at least 50 us
    std::uint64_t longest_dropped_ns = 0; // the longest of these
};
template <class Codec> void describe(Codec& c, WaitsRecord& r) {
    c.number(r.thread);
    c.number(r.waits);
    c.number(r.dropped);
    c.number(r.longest_dropped_ns);
}

/// The common ancestors are those with the entries next to it: samples, and waits where how far they have activations in common is known.
struct WaitRecord {
    std::int64_t begin_difference = 0; // ns since the end of the wait before; for the first, since the session's clock began
    std::uint64_t duration = 0;        // ns
    std::int64_t node_difference = 0;  // node id - that of the wait before (0 before the first)
    std::uint64_t lca = 0;             // with the entry before: depth * 4 + LcaKind
    std::uint64_t lca_after = 0;       // with the entry after it
};
template <class Codec> void describe(Codec& c, WaitRecord& r) {
    c.signed_number(r.begin_difference);
    c.number(r.duration);
    c.signed_number(r.node_difference);
    c.number(r.lca);
    c.number(r.lca_after);
}

} // namespace libprofile
