#include "tools/timeline/order_graph.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

} // namespace

/// An edge from a node that is over to one that waits.
void OrderGraph::pass(const Node& from, std::uint32_t at, Node& to) const {
    if (from.longest > to.longest || to.before == none) {
        to.longest = from.longest;
        to.before = at;
    }
    to.level = std::max(to.level, from.level);
    to.ready_ns = std::max(to.ready_ns, from.is_junction ? from.ready_ns : from.end_ns);
}

void OrderGraph::solve() {
    // Edges by their begin (counting sort), then nodes in the order in which all before them are over (Kahn).
    std::vector<std::uint32_t> at(nodes_.size() + 1), waits_for(nodes_.size()), targets(edges_.size()), ready;
    for (const Edge& edge : edges_) {
        ++at[edge.from + 1];
        ++waits_for[edge.to];
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) at[n + 1] += at[n];
    std::vector<std::uint32_t> next(at.begin(), at.end() - 1);
    for (const Edge& edge : edges_) targets[next[edge.from]++] = edge.to;
    edges_ = {};
    ready.reserve(nodes_.size());
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
        if (waits_for[n] == 0) ready.push_back(n);
    for (std::size_t i = 0; i < ready.size(); ++i) {
        Node& node = nodes_[ready[i]];
        node.is_reached = true;
        node.longest = sum_of(node.longest, node.weight);
        node.level += node.enters ? 1 : 0;
        for (std::uint32_t e = at[ready[i]]; e < at[ready[i] + 1]; ++e) {
            pass(node, ready[i], nodes_[targets[e]]);
            if (--waits_for[targets[e]] == 0) ready.push_back(targets[e]);
        }
    }
}

} // namespace libprofile::tools
