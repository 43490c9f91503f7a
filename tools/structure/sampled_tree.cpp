#include "tools/structure/sampled_tree.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t fewest_in_order = 5;   // samples: five of each are apart by a chance of 2 in 252
constexpr std::size_t most_out_of_order = 256; // children of a caller that others may come before
constexpr std::uint32_t not_there = 0xffffffff;

using Nodes = std::vector<std::uint32_t>;

/// By node, in the order of their mean times.
std::vector<Nodes> children_of(const SampledTree& tree) {
    std::vector<Nodes> children(tree.nodes.size());
    for (std::uint32_t node = 1; node < tree.nodes.size(); ++node) children[tree.nodes[node].parent].push_back(node);
    for (Nodes& list : children)
        std::stable_sort(list.begin(), list.end(), [&](std::uint32_t x, std::uint32_t y) { return tree.nodes[x].mean < tree.nodes[y].mean; });
    return children;
}

/// By node of `of`: that of `in` with the same path.
Nodes same_paths(const SampledTree& of, const SampledTree& in) {
    Nodes same(of.nodes.size(), not_there);
    for (std::uint32_t i = 0, j = 0; i < of.nodes.size() && j < in.nodes.size();)
        if (of.nodes[i].path == in.nodes[j].path)
            same[i++] = j++;
        else
            ++(of.nodes[i].path < in.nodes[j].path ? i : j);
    return same;
}

bool is_before(const SampledNode& one, const SampledNode& other) { return one.all >= fewest_in_order && other.all >= fewest_in_order && one.high < other.low; }

OrderedTree ordered(const SampledTree& sampled, const std::vector<Nodes>& children, std::span<const std::uint64_t> key_of_path) {
    OrderedTree tree;
    if (sampled.nodes.empty()) return tree;
    struct Item {
        std::uint32_t node, parent;
    };
    std::vector<Item> open = {{0, 0}};
    std::vector<std::uint32_t> samples;
    while (!open.empty()) {
        const auto [node, parent] = open.back();
        open.pop_back();
        const auto number = static_cast<std::uint32_t>(tree.nodes.size());
        tree.nodes.push_back({.key = key_of_path[sampled.nodes[node].path], .path = sampled.nodes[node].path, .parent = parent});
        samples.push_back(sampled.nodes[node].all);
        for (auto child = children[node].rbegin(); child != children[node].rend(); ++child) open.push_back({*child, number});
    }
    complete_tree(tree);
    for (std::size_t n = 0; n < samples.size(); ++n) tree.nodes[n].events = samples[n] & 0x7fffffff; // never more, but the compiler does not know
    return tree;
}

} // namespace

SampledTree sampled_tree(std::span<const std::uint32_t> sightings, std::span<const std::uint32_t> parent_of_path) {
    SampledTree tree;
    std::vector<std::uint32_t> own(parent_of_path.size()), node_of(parent_of_path.size(), not_there);
    for (const std::uint32_t path : sightings) ++own[path];
    std::vector<bool> is_seen(parent_of_path.size());
    is_seen[0] = true;
    for (std::size_t path = own.size(); path-- != 0;) // children come before their callers
        if (own[path] != 0 || is_seen[path]) is_seen[path] = is_seen[parent_of_path[path]] = true;
    for (std::uint32_t path = 0; path < own.size(); ++path) {
        if (!is_seen[path]) continue;
        node_of[path] = static_cast<std::uint32_t>(tree.nodes.size());
        tree.nodes.push_back({path, node_of[parent_of_path[path]], own[path], own[path], 0, 0, 0});
    }
    tree.nodes[0].parent = 0;
    for (std::size_t node = tree.nodes.size(); node-- > 1;) tree.nodes[tree.nodes[node].parent].all += tree.nodes[node].all;
    std::vector<std::uint32_t> seen(tree.nodes.size());
    for (std::uint32_t sample = 0; sample < sightings.size(); ++sample)
        for (std::uint32_t at = node_of[sightings[sample]];; at = tree.nodes[at].parent) {
            SampledNode& node = tree.nodes[at];
            const std::uint32_t tenth = node.all / 10;
            if (seen[at] == tenth) node.low = sample;
            if (seen[at] == node.all - 1 - tenth) node.high = sample;
            ++seen[at];
            node.mean += static_cast<double>(sample) / static_cast<double>(node.all);
            if (at == 0) break;
        }
    return tree;
}

std::array<OrderedTree, 2> in_order(const SampledTree& a, const SampledTree& b, std::span<const std::uint64_t> key_of_path) {
    const std::vector<Nodes> children_a = children_of(a);
    std::vector<Nodes> children_b = children_of(b);
    const Nodes of_a = same_paths(b, a), of_b = same_paths(a, b);
    for (std::uint32_t caller = 0; caller < a.nodes.size(); ++caller) {
        if (of_b[caller] == not_there) continue;
        Nodes order;          // of B
        std::size_t from = 0; // what is before it is not looked at
        for (const std::uint32_t child : children_a[caller]) {
            const std::uint32_t here = of_b[child];
            if (here == not_there) continue;
            const auto is_other_order = [&](std::uint32_t before) {
                return is_before(b.nodes[here], b.nodes[before]) && is_before(a.nodes[of_a[before]], a.nodes[child]);
            };
            order.insert(std::find_if(order.begin() + static_cast<std::ptrdiff_t>(from), order.end(), is_other_order), here);
            from = std::max(order.size(), most_out_of_order) - most_out_of_order;
        }
        for (const std::uint32_t child : children_b[of_b[caller]])
            if (of_a[child] == not_there) order.push_back(child);
        children_b[of_b[caller]] = std::move(order);
    }
    return {ordered(a, children_a, key_of_path), ordered(b, children_b, key_of_path)};
}

} // namespace libprofile::tools
