#include "tools/timeseries/profile_nodes.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

namespace {

void add_times(TimeNode& sum, const TimeNode& node) {
    sum.tail += node.tail;
    sum.duration += node.duration;
    sum.least += node.least;
    sum.most += node.most;
    sum.low += node.low;
    sum.high += node.high;
}

void multiply(TimeNode& profile, double factor) {
    for (double TimeNode::*time : {&TimeNode::tail, &TimeNode::duration, &TimeNode::least, &TimeNode::most, &TimeNode::low, &TimeNode::high})
        profile.*time *= factor;
    for (TimeNode& child : profile.children) multiply(child, factor);
}

} // namespace

void add_profile(std::vector<TimeNode>& siblings, TimeNode&& node) {
    node.gap = 0; // it has no place in time
    const auto at = std::lower_bound(siblings.begin(), siblings.end(), node.context, [](const TimeNode& n, ContextId id) { return n.context < id; });
    if (at == siblings.end() || at->context != node.context) {
        siblings.insert(at, std::move(node));
        return;
    }
    add_times(*at, node);
    for (TimeNode& child : node.children) add_profile(at->children, std::move(child));
}

TimeNode profile_of(TimeNode node) {
    if (node.kind == TimeKind::Profile) return node;
    TimeNode profile;
    profile.context = node.context;
    profile.kind = TimeKind::Profile;
    profile.gap = node.gap;
    add_times(profile, node);
    profile.tail = own_time(node);
    for (TimeNode& child : node.children) add_profile(profile.children, profile_of(std::move(child)));
    for (TimeNode& iteration : node.clusters) {
        const double count = iteration.count;
        TimeNode all = profile_of(std::move(iteration));
        multiply(all, count);
        profile.tail += all.tail;
        for (TimeNode& child : all.children) add_profile(profile.children, std::move(child));
    }
    return profile;
}

} // namespace libprofile::tools
