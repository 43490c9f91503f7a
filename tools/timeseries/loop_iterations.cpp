#include "tools/timeseries/loop_iterations.hpp"

#include "tools/timeseries/profile_nodes.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace libprofile::tools {

namespace {

bool is_accepted(std::span<const TimeNode> tagged, double period, const TimeSeriesParameters& parameters) {
    return tagged.size() >= parameters.child_num_acc ||
           std::any_of(tagged.begin(), tagged.end(), [&](const TimeNode& child) { return child.duration >= parameters.child_dur_acc * period; });
}

double sum_of_durations(std::span<const TimeNode> nodes) {
    double sum = 0;
    for (const TimeNode& node : nodes) sum += node.duration;
    return sum;
}

/// The children with one identifier.
struct Tagged {
    std::size_t first = 0, end = 0;
    bool accepted = false;
};

} // namespace

std::vector<std::uint32_t> iteration_identifiers(const std::vector<TimeNode>& children, const FlowOrder& order) {
    std::vector<std::uint32_t> tags;
    tags.reserve(children.size());
    std::uint32_t iteration = 0;
    for (std::size_t k = 0; k < children.size(); ++k) {
        if (k != 0 && !order.follows(children[k - 1].context, children[k].context)) ++iteration; // a back edge was taken
        tags.push_back(iteration);
    }
    return tags;
}

IdentifiedIterations identify_iterations(EndedLoop loop, const FlowOrder& order, double period, const TimeSeriesParameters& parameters) {
    TimeNode& node = loop.node;
    IdentifiedIterations found;
    if (node.children.empty()) return found;
    const bool is_known = !loop.known.empty();
    const std::vector<std::uint32_t> identified = is_known ? std::vector<std::uint32_t>{} : iteration_identifiers(node.children, order);
    const std::vector<std::uint32_t>& tags = is_known ? loop.known : identified;

    std::vector<Tagged> all;
    double rejected = 0;
    for (std::size_t first = 0; first < tags.size(); first = all.back().end) {
        const std::size_t end = static_cast<std::size_t>(
            std::find_if(tags.begin() + static_cast<std::ptrdiff_t>(first), tags.end(), [&](std::uint32_t tag) { return tag != tags[first]; }) - tags.begin());
        const std::span<const TimeNode> tagged(&node.children[first], end - first);
        all.push_back({first, end, is_known || is_accepted(tagged, period, parameters)});
        ++(all.back().accepted ? found.accepted : found.rejected);
        if (!all.back().accepted) rejected += sum_of_durations(tagged);
    }
    if (rejected > parameters.most_rejected_share * node.duration) {
        found.is_profile = true;
        node = profile_of(std::move(node));
        return found;
    }

    std::vector<TimeNode> children = std::move(node.children);
    const double last_own = std::exchange(node.tail, 0.0);
    node.children.clear();
    double begin = loop.begin;
    for (const Tagged& tagged : all) {
        TimeNode iteration;
        iteration.context = node.context;
        iteration.kind = TimeKind::Iteration;
        iteration.tail = tagged.end == children.size() ? last_own : children[tagged.end].gap;
        if (tagged.end != children.size()) children[tagged.end].gap = 0; // of the next iteration's first child
        double duration = iteration.tail;
        for (std::size_t i = tagged.first; i < tagged.end; ++i) {
            duration += children[i].gap + children[i].duration;
            iteration.children.push_back(std::move(children[i]));
        }
        set_duration(iteration, duration);
        if (tagged.accepted) {
            node.iterations.push_back(static_cast<std::uint32_t>(node.clusters.size()));
            node.clusters.push_back(std::move(iteration));
            found.begins.push_back(begin);
        } else {
            node.iterations.push_back(rejected_iteration);
            node.tail += own_time(iteration);
            for (TimeNode& child : iteration.children) add_profile(node.children, profile_of(std::move(child)));
        }
        begin += duration;
    }
    return found;
}

} // namespace libprofile::tools
