// The Pages block of the profile file: on which NUMA nodes the pages lie that tasks of OpenMP depend on. One per rank.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Followed by PageRangeRecord*, in the order of addresses.
struct PagesRecord {
    std::uint64_t page_size = 0; // bytes
    std::uint64_t error = 0;     // errno with which the kernel refused to tell; 0: it did not
    std::uint64_t unknown = 0;   // pages that were not in memory whenever the kernel was asked, or not asked about any more
    std::uint64_t left_out = 0;  // dependences on pages for which there was no room
    std::uint64_t asked = 0;     // how often the kernel was asked
    std::uint64_t asked_ns = 0;  // what that took
    std::uint64_t ranges = 0;
};
template <class Codec> void describe(Codec& c, PagesRecord& r) {
    c.number(r.page_size);
    c.number(r.error);
    c.number(r.unknown);
    c.number(r.left_out);
    c.number(r.asked);
    c.number(r.asked_ns);
    c.number(r.ranges);
}

/// Pages next to each other on the same node, when the kernel was asked.
struct PageRangeRecord {
    std::uint64_t gap = 0; // pages since the end of the range before; of the first, since address 0
    std::uint64_t pages = 0;
    std::uint64_t node = 0;
};
template <class Codec> void describe(Codec& c, PageRangeRecord& r) {
    c.number(r.gap);
    c.number(r.pages);
    c.number(r.node);
}

} // namespace libprofile
