#include "tools/timeseries/imbalance.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

namespace {

struct LossWalk {
    const Profile& profile;
    const Contexts& contexts;
    std::vector<NodeLoss> losses;

    void add(const TimeNode& node, std::uint32_t parent, double times) {
        const std::size_t at = losses.size();
        if (node.kind == TimeKind::Iteration) times *= node.count;
        losses.push_back(of_node(node, parent, times));
        for (const TimeNode& iteration : node.clusters) add(iteration, static_cast<std::uint32_t>(at), times);
        for (const TimeNode& child : node.children) add(child, static_cast<std::uint32_t>(at), times);
        NodeLoss& loss = losses[at];
        loss.end = static_cast<std::uint32_t>(losses.size());
        if (loss.end == at + 1) {
            loss.sum_imb = loss.imb;
            loss.sum_wait = loss.wait;
        }
        if (at == 0) return;
        losses[parent].sum_imb += loss.sum_imb;
        losses[parent].sum_wait += loss.sum_wait;
    }

    /// Table 1.
    NodeLoss of_node(const TimeNode& node, std::uint32_t parent, double times) const {
        NodeLoss loss{&node, parent, 0, class_of(profile, contexts[node.context]), times};
        const auto imb = [&](double ns) { return times * std::max(0.0, ns); }; // below 0 by rounding only
        switch (loss.node_class) {
        case NodeClass::Computation: loss.imb = imb(node.high - node.duration); break;
        case NodeClass::Wait:
            loss.imb = imb(node.high - node.duration);
            loss.wait = times * node.duration;
            break;
        case NodeClass::Synchronisation:
            loss.imb = imb(node.duration - node.low);
            loss.wait = times * node.low;
            break;
        }
        return loss;
    }
};

} // namespace

NodeClass class_of(const Profile& profile, const Context& context) {
    const CallPath& path = profile.paths[context.path];
    if (context.kind != ContextKind::Call || !is_call(path.kind)) return NodeClass::Computation;
    const Function& function = profile.functions[path.target];
    return class_in_job(function_class(function.name, function.category));
}

std::vector<NodeLoss> node_losses(const Profile& profile, const Contexts& contexts, const TimeNode& mean) {
    LossWalk walk{profile, contexts, {}};
    walk.add(mean, 0, 1);
    return std::move(walk.losses);
}

} // namespace libprofile::tools
