// How a program scales: efficiency at each size, what part of the lost time is waiting, computing or I/O, and which functions it is lost in.
// Contract: thread-safe (no state); allocates; throws FrameError with a sentence, std::bad_alloc.
//
// The baseline is the smallest run. Sizes are ranks x threads. Of several runs of one size the median counts. What is lost is what a run takes
// longer than it would with an efficiency of 100 %: with the same problem (strong scaling) the baseline's time by the factor between the sizes,
// with a problem that grows (weak scaling) the baseline's time itself. Source of the efficiencies: Cankur et al., "Chopper", section 4.2.
#pragma once

#include "tools/comparison/activity.hpp"
#include "tools/comparison/growth.hpp"
#include "tools/comparison/run.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

enum class ScalingKind : std::uint8_t { Strong, Weak };

struct ScaledSize {
    std::size_t resources = 0, ranks = 0; // resources: ranks x threads
    std::vector<std::size_t> runs;        // positions
    double time = 0;                      // ns of the rank that takes longest
    double spread = 0;                    // between the runs
    double efficiency = 0;                // of 1
    double lost = 0;                      // ns; below 0: faster than ideal
};

struct ScaledActivity {
    Activity activity;
    std::vector<double> time; // by size: ns, mean per rank
    double lost = 0;          // of the largest size
    double efficiency = 0;    // there; NaN if it takes no time there
    Growth growth;
};

struct Scaling {
    ScalingKind kind = ScalingKind::Strong;
    bool is_told = false;                                // by the user; else seen
    bool is_sure = true;                                 // if seen
    double computing = 1;                                // by what factor the computing of all ranks grows from the smallest to the largest size
    std::vector<ScaledSize> sizes;                       // ascending
    std::array<double, time_use_count> lost_by_use = {}; // of the largest size: ns, mean per rank
    double lost = 0;                                     // their sum
    std::vector<ScaledActivity> activities;              // most lost first
    Growth growth;                                       // of the run's time
    std::vector<std::string> remarks;                    // sentences

    const ScaledSize& smallest() const { return sizes.front(); }
    const ScaledSize& largest() const { return sizes.back(); }
};

/// Also gives all runs the same nodes.
/// @param told the kind; empty: it is seen from whether total computing grows
/// @throws FrameError when there are no two sizes, or the runs have nothing in common
Scaling scaling_of(std::vector<Run>& runs, std::optional<ScalingKind> told);

} // namespace libprofile::tools
