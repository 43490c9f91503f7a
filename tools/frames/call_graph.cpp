#include "tools/frames/call_graph.hpp"

#include "tools/frames/place_values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace libprofile::tools {

namespace {

/// Children of each node, one after another.
struct Children {
    std::vector<std::uint32_t> begin, child;

    explicit Children(const std::vector<std::uint32_t>& parent) : begin(parent.size() + 1), child(parent.size()) {
        for (std::size_t n = 1; n < parent.size(); ++n) ++begin[parent[n] + 1];
        for (std::size_t n = 1; n < begin.size(); ++n) begin[n] += begin[n - 1];
        std::vector<std::uint32_t> at = begin;
        for (std::uint32_t n = 1; n < parent.size(); ++n) child[at[parent[n]]++] = n;
    }
};

/// Goes through the tree and calls enter(node) before, leave(node) after what is below. Not recursive: trees may be a million calls deep.
template <class Enter, class Leave> void walk(const std::vector<std::uint32_t>& parent, Enter enter, Leave leave) {
    if (parent.empty()) return;
    const Children children(parent);
    std::vector<std::uint32_t> next = children.begin;
    std::uint32_t node = 0;
    enter(node);
    while (true) {
        if (next[node] < children.begin[node + 1]) {
            node = children.child[next[node]++];
            enter(node);
            continue;
        }
        leave(node);
        if (node == 0) return;
        node = parent[node];
    }
}

} // namespace

NodeGroups group_nodes(const Frame& frame, GroupBy by) {
    const FrameNodes& nodes = frame.nodes;
    struct Hash {
        std::size_t operator()(const std::array<std::uint32_t, 3>& key) const {
            std::uint64_t hash = 0;
            for (const std::uint32_t part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
            return hash ^ (hash >> 32);
        }
    };
    std::unordered_map<std::array<std::uint32_t, 3>, std::uint32_t, Hash> numbers;
    NodeGroups groups;
    groups.group_of.reserve(nodes.size());
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        std::array<std::uint32_t, 3> key{};
        if (by == GroupBy::Name || by == GroupBy::Function) key[0] = nodes.name[n];
        if (by == GroupBy::File || by == GroupBy::Function) key[1] = nodes.file[n];
        if (by == GroupBy::Module || by == GroupBy::Function) key[2] = nodes.module[n];
        const auto [at, is_new] = numbers.try_emplace(key, static_cast<std::uint32_t>(groups.first.size()));
        if (is_new) groups.first.push_back(n);
        groups.group_of.push_back(at->second);
    }
    return groups;
}

std::vector<bool> outermost_nodes(const Frame& frame, const NodeGroups& groups) {
    std::vector<bool> outermost(frame.nodes.size());
    std::vector<std::uint32_t> open(groups.first.size());
    walk(
        frame.nodes.parent, [&](std::uint32_t node) { outermost[node] = open[groups.group_of[node]]++ == 0; },
        [&](std::uint32_t node) { --open[groups.group_of[node]]; });
    return outermost;
}

CallGraph call_graph(const Frame& frame, std::string_view metric, GroupBy by) {
    const std::vector<double> own = sums_over_places(frame, metric, false);
    std::vector<double> all = own;
    add_callees(frame, all);
    const std::vector<std::uint32_t>& parent = frame.nodes.parent;
    CallGraph graph;
    graph.groups = group_nodes(frame, by);
    const std::vector<std::uint32_t>& group = graph.groups.group_of;
    const std::size_t count = graph.groups.first.size();
    graph.exclusive.resize(count);
    graph.inclusive.resize(count);

    struct Edge {
        std::uint32_t open = 0;
        double value = 0;
    };
    std::unordered_map<std::uint64_t, Edge> edges;
    std::vector<Edge*> edge_of(parent.size());
    for (std::uint32_t n = 1; n < parent.size(); ++n) edge_of[n] = &edges[std::uint64_t{group[parent[n]]} << 32 | group[n]];
    std::vector<std::uint32_t> open(count);
    walk(
        parent,
        [&](std::uint32_t node) {
            graph.exclusive[group[node]] += own[node];
            if (open[group[node]]++ == 0) graph.inclusive[group[node]] += all[node];
            if (node != 0 && edge_of[node]->open++ == 0) edge_of[node]->value += all[node];
        },
        [&](std::uint32_t node) {
            --open[group[node]];
            if (node != 0) --edge_of[node]->open;
        });

    std::vector<std::pair<std::uint64_t, double>> sorted;
    for (const auto& [key, edge] : edges) sorted.emplace_back(key, edge.value);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [key, value] : sorted) {
        graph.caller.push_back(static_cast<std::uint32_t>(key >> 32));
        graph.callee.push_back(static_cast<std::uint32_t>(key));
        graph.edge.push_back(value);
    }
    return graph;
}

} // namespace libprofile::tools
