// The counts of one region on one call path of a thread since it was last booked.
// Contract: plain data of its thread, used with the in-tool flag set; never moved or freed.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

struct RegionCounter {
    NodeId node = 0;
    std::uint32_t active = 0; // open activations; more than one in a recursion
    bool is_touched = false;
    RegionCounter* next_touched = nullptr;
    RegionCounter* next = nullptr; // with the same hash of the node
    std::uint64_t visits = 0;
    std::uint64_t inclusive_ns = 0;
    std::uint64_t exclusive_ns = 0;
    std::uint64_t* counted = nullptr; // of named regions, if counters were chosen: the count of each
};

} // namespace libprofile
