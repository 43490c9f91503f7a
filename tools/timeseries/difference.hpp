// How different two nodes of temporal context trees are.
// Contract: thread-safe; allocates little; time in proportion to the nodes of both, and for loops to their iterations.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.1 (Algorithm 2) and 4.2.1 (loops).
// Decisions:
// - Iterations of two loops match by their number, or are aligned if samples have missed some (alignment.hpp). One that is rejected or missing on one side
//   matches nothing.
// - Where only one of two loops is a profile, both are compared as profiles.
// - Children of profile nodes match by context.
// - Two nodes without any time differ by a ratio of 0.
#pragma once

#include "tools/timeseries/flow_order.hpp"
#include "tools/timeseries/time_node.hpp"

namespace libprofile::tools {

class TreeDifference {
  public:
    /// @param tolerance ns by which a difference of two times is reduced (diffGap): two periods
    TreeDifference(const FlowOrder& order, double tolerance) : order_(&order), tolerance_(tolerance) {}

    /// diff(): of two nodes with one context, in ns.
    double operator()(const TimeNode& a, const TimeNode& b) const;
    /// diffRatio(): from 0 to 1.
    double ratio(const TimeNode& a, const TimeNode& b) const;

  private:
    double gap(double a, double b) const;
    double to_nothing(const TimeNode& node) const;
    double of_children(const TimeNode& a, const TimeNode& b, bool in_order) const;
    double of_loops(const TimeNode& a, const TimeNode& b) const;

    const FlowOrder* order_;
    double tolerance_;
};

} // namespace libprofile::tools
