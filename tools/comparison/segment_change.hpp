// A part of two aligned runs in which they differ in one way.
// Contract: plain data.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/comparison/change_evidence.hpp"
#include "tools/comparison/comparison.hpp"
#include "tools/comparison/run.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Iterations that follow each other, and differ alike.
struct SegmentChange {
    IterationRange before, after; // the first and the last one, of the first run of both groups
    std::uint64_t pairs = 0;      // of iterations
    Change each;                  // ns an iteration, mean over ranks
    Change instructions;          // the same, counted; 0 and 0: they were not
    bool is_change = false;       // beyond chance, and large enough to be told
    bool is_disturbance = false;  // it is that, too, but the machine may have made it (tools/comparison/disturbances.hpp)
    ChangeEvidence evidence = ChangeEvidence::None;
    std::vector<RunGroup> groups; // of a change: the baseline and the other one, these iterations only
    Comparison comparison;        // of them

    /// What the iterations take longer altogether: ns, mean over ranks.
    double total() const { return each.difference() * static_cast<double>(pairs); }
    bool is_told_apart() const { return is_change || is_disturbance; }
};

} // namespace libprofile::tools
