// How the iterations of a phase went: imbalance, hot path and parallel efficiency in steps of some iterations.
// Contract: thread-safe (no state); works with several threads; allocates; throws FrameError, ExportError, std::bad_alloc.
//
// A step has the values that a frame of its iterations has, with what lies inside them; estimates are marked.
// Source of the efficiencies: Rosas, Giménez, Labarta, "Scalability prediction for fundamental performance factors", Supercomputing
// Frontiers and Innovations 1, 2 (2014).
#pragma once

#include "tools/export/call_table.hpp"
#include "tools/frames/frame.hpp"
#include "tools/frames/hot_path.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct OverTimeChoice {
    TableChoice table;        // phase, iterations, ranks, by_line, short_names, and one metric
    std::uint64_t stride = 1; // iterations of a step; the last one may have fewer
    bool inclusive = false;   // of mean, max and present
    double threshold = 0.5;   // of the hot paths
};

/// Arrays by step and node are of steps x nodes. Threads of a rank are added up; ranks that have no iteration of a step are no part of it.
struct OverTime {
    Frame tree;                        // nodes, places and one column without values
    std::vector<IterationRange> steps; // from 0
    std::vector<std::uint32_t> ranks;  // by step: that have an iteration of it
    std::vector<double> mean, max;     // by step and node: over these ranks; 0 where none has the node
    std::vector<std::uint32_t> present;
    std::vector<std::uint8_t> estimated; // by step and node: some of the value is an estimate
    std::vector<std::uint64_t> untold;   // by step: ns in phases inside of which nothing else is known
    std::vector<std::vector<std::uint32_t>> hot_path;
    // By step, of main threads, in ns; NaN where a rank's own values of an iteration were not kept.
    std::vector<double> wall;         // the longest
    std::vector<double> mean_compute; // computing time of its ranks
    std::vector<double> most_compute;
    std::vector<std::uint8_t> estimated_compute; // a part is that of phases without iterations inside, which have one profile for the whole run
};

/// @throws FrameError when there are more than 2^24 steps x nodes: a longer stride has fewer
OverTime over_time(const Profile& profile, const OverTimeChoice& choice);

} // namespace libprofile::tools
