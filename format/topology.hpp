// The Topology block of the profile file: where a rank and its threads ran. One per rank.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// The machine as the kernel shows it, followed by ProcessorRecord* and ThreadAffinityRecord*. A processor is a hardware thread, by the kernel's
/// number. Unknown values are 0 or empty.
struct TopologyRecord {
    Text machine;             // identifies the machine better than the host name: the kernel's boot_id
    Text model;               // of the processors
    std::uint64_t memory = 0; // bytes
    std::uint64_t machine_processors = 0;
    std::uint64_t machine_cores = 0;
    std::uint64_t machine_packages = 0; // sockets
    std::uint64_t machine_numa_nodes = 0;
    Text counters;                // the counters of this rank, by name, separated by commas, in the order of their metrics
    std::uint64_t processors = 0; // number of processors that a thread of the rank was allowed to use or was seen on
    std::uint64_t threads = 0;
};
template <class Codec> void describe(Codec& c, TopologyRecord& r) {
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

struct ThreadAffinityRecord {
    std::uint64_t thread = 0;
    Text allowed;               // processors it was allowed to use at its end: "0-3,8"; empty if unknown
    std::uint64_t last = 0;     // processor it was last seen on, + 1; 0 if it was never observed
    std::uint64_t looks = 0;    // observations: iteration ends, samples
    std::uint64_t moves = 0;    // times it was on another processor than at the last observation
    std::uint64_t counters = 0; // bit i is set if counter i was read
};
template <class Codec> void describe(Codec& c, ThreadAffinityRecord& r) {
    c.number(r.thread);
    c.text(r.allowed);
    c.number(r.last);
    c.number(r.looks);
    c.number(r.moves);
    c.number(r.counters);
}

} // namespace libprofile
