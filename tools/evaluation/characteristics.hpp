// What is to be compressed: iterations, call paths, call-tree equivalence classes.
// Contract: thread-safe (no state); allocates scratch memory in proportion to the call paths.
// Source: Szebenyi, Wolf, Wylie (SC 2009), Table 2.
#pragma once

#include "tools/evaluation/recording.hpp"

#include <cstdint>

namespace libprofile::tools {

/// Number of call paths; those of libprofile itself are not counted.
struct PathStatistics {
    std::uint64_t distinct = 0; // that occur in any iteration of any location
    std::uint64_t total = 0;    // pairs of iteration and call path, over all locations together: the paper's "total"
    std::uint64_t minimum = 0;  // in an iteration of a location
    double average = 0;
    std::uint64_t maximum = 0;
};

/// Over locations.
struct LocalRange {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};

struct Characteristics {
    std::uint64_t wall_ns = 0;
    std::size_t locations = 0;
    LocalRange iterations;
    PathStatistics all;
    PathStatistics mpi;
    LocalRange weak_classes;
    LocalRange strong_classes;
};

Characteristics characterise(const Recording& recording);

} // namespace libprofile::tools
