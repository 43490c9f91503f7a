// A node of a temporal context tree: a call, a loop, an iteration or a profile, with its children in the order of time.
// Contract: plain data, a value with all below it; copies allocate.
//
// Source: Wei and Mellor-Crummey (ICS 2018), sections 3.1, 3.2 and 4.3.1.
// Decision: a node has no begin and end, but what its parent did before it (`gap`). So a node of one thread and the mean of many look alike. Times
// are in ns; means need fractions.
#pragma once

#include "tools/timeseries/contexts.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

enum class TimeKind : std::uint8_t {
    Call,      // children in the order of time
    Loop,      // its iterations are in `clusters`; children: the profile of what is in no accepted iteration
    Iteration, // children in the order of time; the context is that of the loop
    Profile,   // sums over all instances; children by context
};

struct TimeNode {
    ContextId context = 0;
    TimeKind kind = TimeKind::Call;
    std::uint32_t count = 1; // Iteration: for so many of its loop it stands
    double gap = 0;          // the parent's own time between the sibling before and this
    double tail = 0;         // its own time after its last child; of loops and profiles, all own time
    double duration = 0;     // mean
    double least = 0;        // of single instances; 0 if one did not have the node
    double most = 0;
    double low = 0; // of the means of threads: what Table 1 calls min and max
    double high = 0;
    std::vector<TimeNode> children;
    std::vector<TimeNode> clusters;        // Loop: of kind Iteration
    std::vector<std::uint32_t> iterations; // Loop: by iteration, its cluster; rejected_iteration
};

inline constexpr std::uint32_t rejected_iteration = 0xffffffff;

inline void set_duration(TimeNode& node, double duration) { node.duration = node.least = node.most = node.low = node.high = duration; }

/// Time in the node itself, in none of its children and iterations.
inline double own_time(const TimeNode& node) {
    double own = node.tail;
    for (const TimeNode& child : node.children) own += child.gap;
    return own;
}

inline std::size_t number_of_nodes(const TimeNode& node) {
    std::size_t nodes = 1;
    for (const TimeNode& child : node.children) nodes += number_of_nodes(child);
    for (const TimeNode& iteration : node.clusters) nodes += number_of_nodes(iteration);
    return nodes;
}

} // namespace libprofile::tools
