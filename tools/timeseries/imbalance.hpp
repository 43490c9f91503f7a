// What imbalance and waiting cost at each node of the tree that is the mean of all threads.
// Contract: thread-safe (no state); linear in the nodes; throws std::bad_alloc only. Nodes are pointers into the tree, which must stay where it is.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.3.1 (Table 1) and 4.3.2 (sumImb, sumWait).
// Decisions: iterations of a cluster count as often as there are. Collectives with a root are waits. As in the paper, a node's own time is no part of
// sumImb.
#pragma once

#include "tools/timeseries/function_class.hpp"
#include "tools/timeseries/time_node.hpp"

#include <vector>

namespace libprofile::tools {

struct NodeLoss {
    const TimeNode* node = nullptr;
    std::uint32_t parent = 0;
    std::uint32_t end = 0; // after the last one below it
    NodeClass node_class = NodeClass::Computation;
    double times = 1; // how often it happens in the run: as an iteration of clusters around it
    double imb = 0;   // ns: the run would be so much shorter if the node were balanced
    double wait = 0;  // ns: and by so much more without waiting in it
    double sum_imb = 0;
    double sum_wait = 0;
};

/// The class of a context, as all ranks together see it.
NodeClass class_of(const Profile& profile, const Context& context);

/// The losses of all nodes, from the root, in the order of time; parents come before what is below them. Clusters of iterations come in the order of
/// their first iterations.
std::vector<NodeLoss> node_losses(const Profile& profile, const Contexts& contexts, const TimeNode& mean);

} // namespace libprofile::tools
