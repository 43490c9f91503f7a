// The call paths on which most is lost, at the depth where it arises.
// Contract: thread-safe (no state); linear in the nodes; throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.3.2.
// Decisions: of several nodes of a call path that meet both criteria, the outermost is taken; but if one node below it meets them, too, and has more than
// originDepthRatio of its loss alone, that one, and so on: the loss arises there. Nothing below a chosen node is chosen for the same loss.
#pragma once

#include "tools/timeseries/imbalance.hpp"
#include "tools/timeseries/parameters.hpp"

#include <vector>

namespace libprofile::tools {

struct SignificantPath {
    std::uint32_t loss = 0; // position among the losses
    bool by_imbalance = false;
    bool by_waiting = false;
};

/// In the order of time. `run_time`: ns, of the longest thread.
std::vector<SignificantPath> significant_paths(const std::vector<NodeLoss>& losses, double run_time, const TimeSeriesParameters& parameters);

} // namespace libprofile::tools
