// Divides the children of a loop into iterations, and decides which iterations are believed.
// Contract: thread-safe (no state); linear in the children; throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 3.2, Algorithm 1.
// Decisions: an iteration begins with its first child; the loop's own time between two iterations belongs to the one before. Iterations that the
// profile knows need no identifiers, and all of them are accepted. A loop without children has no iterations.
#pragma once

#include "tools/timeseries/flow_order.hpp"
#include "tools/timeseries/parameters.hpp"
#include "tools/timeseries/tree_builder.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Algorithm 1: for each child of a loop its iteration identifier, from 0.
std::vector<std::uint32_t> iteration_identifiers(const std::vector<TimeNode>& children, const FlowOrder& order);

/// What became of the identifiers of one loop.
struct IdentifiedIterations {
    std::uint64_t accepted = 0;
    std::uint64_t rejected = 0;
    bool is_profile = false;    // the loop has become one
    std::vector<double> begins; // ns, of the accepted ones
};

/// Puts iterations between a loop and its children: one cluster for each accepted one. The others become profile nodes, or all of the loop does.
/// @param period ns between two samples
IdentifiedIterations identify_iterations(EndedLoop loop, const FlowOrder& order, double period, const TimeSeriesParameters& parameters);

} // namespace libprofile::tools
