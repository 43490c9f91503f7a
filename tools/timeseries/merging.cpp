#include "tools/timeseries/merging.hpp"

#include "tools/timeseries/matching.hpp"
#include "tools/timeseries/profile_nodes.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

/// The mean of the node and of one without time.
TimeNode Merging::with_nothing(const TimeNode& a, double share) const {
    TimeNode out = a;
    out.gap *= share;
    out.tail *= share;
    out.duration *= share;
    out.least = 0;
    if (what_ == MergeOf::Threads)
        out.low = 0;
    else {
        out.low *= share;
        out.high *= share;
    }
    for (TimeNode& child : out.children) child = with_nothing(child, share);
    for (TimeNode& iteration : out.clusters) iteration = with_nothing(iteration, share);
    if (!out.clusters.empty()) finish_loop_(out);
    return out;
}

void Merging::add_children(TimeNode& out, const TimeNode& a, double share_a, const TimeNode& b, double share_b, bool in_order) const {
    match_children(
        *order_, a.children, b.children, in_order,
        [&](std::size_t i, std::size_t j) { out.children.push_back((*this)(a.children[i], share_a, b.children[j], share_b)); },
        [&](std::size_t i) { out.children.push_back(with_nothing(a.children[i], share_a)); },
        [&](std::size_t j) { out.children.push_back(with_nothing(b.children[j], share_b)); });
}

void Merging::add_iterations(TimeNode& out, const TimeNode& a, double share_a, const TimeNode& b, double share_b) const {
    const IterationPairs pairs(a, b);
    std::vector<std::uint32_t> place(pairs.size(), rejected_iteration); // by pair: its cluster
    const std::size_t width = b.clusters.size() + 1;
    pairs.for_each([&](std::size_t x, std::size_t y, std::uint32_t count) {
        place[x * width + y] = static_cast<std::uint32_t>(out.clusters.size());
        TimeNode& cluster = out.clusters.emplace_back();
        cluster = x == a.clusters.size()   ? with_nothing(b.clusters[y], share_b)
                  : y == b.clusters.size() ? with_nothing(a.clusters[x], share_a)
                                           : (*this)(a.clusters[x], share_a, b.clusters[y], share_b);
        cluster.count = count;
    });
    out.iterations.resize(pairs.iterations());
    for (std::size_t k = 0; k < out.iterations.size(); ++k) out.iterations[k] = place[pairs.index(k)];
}

TimeNode Merging::operator()(const TimeNode& a, double weight_a, const TimeNode& b, double weight_b) const {
    if (a.kind != b.kind) return (*this)(profile_of(a), weight_a, profile_of(b), weight_b);
    const double share_a = weight_a / (weight_a + weight_b), share_b = weight_b / (weight_a + weight_b);
    const auto mean = [&](double TimeNode::*time) { return share_a * a.*time + share_b * b.*time; };
    TimeNode out;
    out.context = a.context;
    out.kind = a.kind;
    out.gap = mean(&TimeNode::gap);
    out.tail = mean(&TimeNode::tail);
    out.duration = mean(&TimeNode::duration);
    out.least = std::min(a.least, b.least);
    out.most = std::max(a.most, b.most);
    const bool of_threads = what_ == MergeOf::Threads;
    out.low = of_threads ? std::min(a.low, b.low) : mean(&TimeNode::low);
    out.high = of_threads ? std::max(a.high, b.high) : mean(&TimeNode::high);
    add_children(out, a, share_a, b, share_b, out.kind == TimeKind::Call || out.kind == TimeKind::Iteration);
    if (out.kind == TimeKind::Loop && !(a.clusters.empty() && b.clusters.empty())) {
        add_iterations(out, a, share_a, b, share_b);
        finish_loop_(out);
    }
    return out;
}

} // namespace libprofile::tools
