// The Place block of the profile file: where a rank and its threads ran. One per rank.
// Contract: plain data; no allocation; `describe` runs with an Encoder or with a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// The machine as the kernel shows it, then ProcessorRecord*, PlacedThreadRecord*. A processor is a hardware thread, by the kernel's
/// number. What is not known is 0 or empty.
struct PlaceRecord {
    Text machine;             // tells machines apart where host names do not: the kernel's boot_id
    Text model;               // of the processors
    std::uint64_t memory = 0; // bytes
    std::uint64_t machine_processors = 0;
    std::uint64_t machine_cores = 0;
    std::uint64_t machine_packages = 0; // sockets
    std::uint64_t machine_numa_nodes = 0;
    Text counters;                // the counters of this rank, by name, separated by commas, in the order of their metrics
    std::uint64_t processors = 0; // that a thread of the rank was allowed to use, or was seen on
    std::uint64_t threads = 0;
};
template <class Codec> void describe(Codec& c, PlaceRecord& r) {
    c.text(r.machine);
    c.text(r.model);
    c.number(r.memory);
    c.number(r.machine_processors);
    c.number(r.machine_cores);
    c.number(r.machine_packages);
    c.number(r.machine_numa_nodes);
    c.text(r.counters);
    c.number(r.processors);
    c.number(r.threads);
}

/// In the order of their numbers.
struct ProcessorRecord {
    std::uint64_t number = 0;
    std::uint64_t core = 0;      // lowest number of its processors, + 1
    std::uint64_t package = 0;   // its number + 1
    std::uint64_t numa_node = 0; // its number + 1
};
template <class Codec> void describe(Codec& c, ProcessorRecord& r) {
    c.number(r.number);
    c.number(r.core);
    c.number(r.package);
    c.number(r.numa_node);
}

struct PlacedThreadRecord {
    std::uint64_t thread = 0;
    Text allowed;               // processors it was allowed to use at its end: "0-3,8"; empty: unknown
    std::uint64_t last = 0;     // processor it was last seen on, + 1; 0: it was never looked at
    std::uint64_t looks = 0;    // times it was looked at: iteration ends, samples
    std::uint64_t moves = 0;    // times it was on another processor than at the look before
    std::uint64_t counters = 0; // bit i: counter i was read
};
template <class Codec> void describe(Codec& c, PlacedThreadRecord& r) {
    c.number(r.thread);
    c.text(r.allowed);
    c.number(r.last);
    c.number(r.looks);
    c.number(r.moves);
    c.number(r.counters);
}

} // namespace libprofile
