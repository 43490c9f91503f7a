// The weighted mean of two nodes: what represents them when they are one cluster.
// Contract: thread-safe if `finish_loop` is; time in proportion to the nodes of both; throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.2: merge() of Algorithm 3 walks as Algorithm 2 does. Section 4.3.1: min and max.
// Decisions:
// - A node that only one side has is averaged with one without time. Own time keeps its place before the next child.
// - TimeNode::low and high are the extremes over threads of what a thread takes on average. So iterations that all threads find long are no imbalance
//   between threads. Where iterations are merged, they are averaged, as their sum over the iterations must stay.
#pragma once

#include "tools/timeseries/flow_order.hpp"
#include "tools/timeseries/time_node.hpp"

#include <functional>

namespace libprofile::tools {

enum class MergeOf : std::uint8_t { Iterations, Threads };

class Merging {
  public:
    /// @param finish_loop gets each merged loop, with a cluster for every pair of clusters that met; it makes them few
    Merging(const FlowOrder& order, MergeOf what, std::function<void(TimeNode&)> finish_loop)
        : order_(&order), what_(what), finish_loop_(std::move(finish_loop)) {}

    /// Two nodes of one context, that stand for `weight_a` and `weight_b` instances.
    TimeNode operator()(const TimeNode& a, double weight_a, const TimeNode& b, double weight_b) const;

  private:
    TimeNode with_nothing(const TimeNode& a, double share) const;
    void add_children(TimeNode& out, const TimeNode& a, double share_a, const TimeNode& b, double share_b, bool in_order) const;
    void add_iterations(TimeNode& out, const TimeNode& a, double share_a, const TimeNode& b, double share_b) const;

    const FlowOrder* order_;
    MergeOf what_;
    std::function<void(TimeNode&)> finish_loop_;
};

} // namespace libprofile::tools
