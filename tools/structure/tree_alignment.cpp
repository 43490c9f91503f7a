#include "tools/structure/tree_alignment.hpp"

#include "libprofile/base/hashing.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_depth = 256;                          // of recursion
constexpr std::size_t most_cells_at_once = std::size_t{1} << 24; // 16 MiB
constexpr std::size_t most_known = std::size_t{1} << 20;         // distances that are kept from one part to the next
constexpr std::uint64_t event_cost = std::uint64_t{1} << 20;     // and 1 for a gap
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max() / 4;

/// How a cell of the table of costs came about. A cell has two costs: of those that end in a pair, and of those that end in a gap.
enum TableStep : std::uint8_t { PairAfterGap = 1, GapAfterGap = 2, GapInB = 4 };

std::size_t nodes_of(const OrderedTree& tree, TreeAligner::Nodes list) {
    std::size_t nodes = 0;
    for (const std::uint32_t node : list) nodes += tree.nodes[node].end - node;
    return nodes;
}

std::vector<std::uint64_t> values_of(const OrderedTree& tree, TreeAligner::Nodes list, std::uint64_t OrderedNode::*member) {
    std::vector<std::uint64_t> values;
    for (const std::uint32_t node : list) values.push_back(tree.nodes[node].*member);
    return values;
}

/// Equal subtrees at the beginning, and at the end.
struct EqualEnds {
    std::size_t first = 0, last = 0;
    EqualEnds(const OrderedTree& a, TreeAligner::Nodes list_a, const OrderedTree& b, TreeAligner::Nodes list_b) {
        const auto is_equal = [&](std::uint32_t x, std::uint32_t y) { return a.nodes[x].hash == b.nodes[y].hash; };
        first = static_cast<std::size_t>(std::mismatch(list_a.begin(), list_a.end(), list_b.begin(), list_b.end(), is_equal).first - list_a.begin());
        const auto rest_a = list_a.subspan(first), rest_b = list_b.subspan(first);
        last = static_cast<std::size_t>(std::mismatch(rest_a.rbegin(), rest_a.rend(), rest_b.rbegin(), rest_b.rend(), is_equal).first - rest_a.rbegin());
    }
    TreeAligner::Nodes between(TreeAligner::Nodes list) const { return list.subspan(first, list.size() - first - last); }
};

} // namespace

TreeAligner::TreeAligner(const OrderedTree& a, const OrderedTree& b, std::size_t cells)
    : a_(a), b_(b),
      share_(static_cast<double>(cells) / static_cast<double>(a.nodes.size() + b.nodes.size())), partner_{
                                                                                                     std::vector<std::uint32_t>(a.nodes.size(), no_partner),
                                                                                                     std::vector<std::uint32_t>(b.nodes.size(), no_partner)} {}

void TreeAligner::pair(std::uint32_t node_a, std::uint32_t node_b) {
    match(node_a, node_b);
    match_open();
}

void TreeAligner::pair_lists(Nodes list_a, Nodes list_b) {
    match_lists(list_a, list_b);
    match_open();
}

void TreeAligner::part_below(std::uint32_t node_a, std::uint32_t node_b) {
    std::fill(partner_[0].begin() + node_a + 1, partner_[0].begin() + a_.nodes[node_a].end, no_partner);
    std::fill(partner_[1].begin() + node_b + 1, partner_[1].begin() + b_.nodes[node_b].end, no_partner);
}

void TreeAligner::match_open() {
    while (!open_.empty()) {
        const auto [node_a, node_b] = open_.back();
        open_.pop_back();
        match_lists(a_.children(node_a), b_.children(node_b));
    }
}

void TreeAligner::match(std::uint32_t node_a, std::uint32_t node_b) {
    const OrderedNode &a = a_.nodes[node_a], &b = b_.nodes[node_b];
    const bool is_equal = a.hash == b.hash;
    for (std::uint32_t i = 0; i < (is_equal ? a.end - node_a : 1); ++i) {
        partner_[0][node_a + i] = node_b + i;
        partner_[1][node_b + i] = node_a + i;
    }
    if (!is_equal) open_.emplace_back(node_a, node_b);
}

void TreeAligner::match_lists(Nodes list_a, Nodes list_b) {
    const EqualEnds ends(a_, list_a, b_, list_b);
    for (std::size_t i = 0; i < ends.first; ++i) match(list_a[i], list_b[i]);
    for (std::size_t i = ends.last; i != 0; --i) match(list_a[list_a.size() - i], list_b[list_b.size() - i]);
    const Nodes a = ends.between(list_a), b = ends.between(list_b);
    if (a.empty() || b.empty()) return;
    if (can_be_tried_out(a, b)) return match_cheapest(a, b);
    const auto partners = partners_of_long(values_of(a_, a, &OrderedNode::hash), values_of(b_, b, &OrderedNode::hash));
    std::size_t from_a = 0, from_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (partners[i] == no_partner) continue;
        match_gap(a.subspan(from_a, i - from_a), b.subspan(from_b, partners[i] - from_b));
        match(a[i], b[partners[i]]);
        from_a = i + 1;
        from_b = partners[i] + 1;
    }
    match_gap(a.subspan(from_a), b.subspan(from_b));
}

/// No subtree occurs in both lists, or there is something cheaper.
void TreeAligner::match_gap(Nodes list_a, Nodes list_b) {
    if (list_a.empty() || list_b.empty()) return;
    if (can_be_tried_out(list_a, list_b)) return match_cheapest(list_a, list_b);
    const auto partners = partners_of_long(values_of(a_, list_a, &OrderedNode::key), values_of(b_, list_b, &OrderedNode::key));
    for (std::size_t i = 0; i < list_a.size(); ++i)
        if (partners[i] != no_partner) match(list_a[i], list_b[partners[i]]);
}

/// If these can, all lists below can.
bool TreeAligner::can_be_tried_out(Nodes list_a, Nodes list_b) const {
    const auto n = static_cast<double>(nodes_of(a_, list_a)), m = static_cast<double>(nodes_of(b_, list_b));
    return n * m <= share_ * (n + m) && n * m <= static_cast<double>(most_cells_at_once);
}

void TreeAligner::match_cheapest(Nodes list_a, Nodes list_b) {
    if (known_.size() > most_known) known_.clear();
    std::vector<std::uint8_t> steps((list_a.size() + 1) * (list_b.size() + 1));
    bool is_gap = least_cost(list_a, list_b, &steps) % 2 != 0;
    for (std::size_t i = list_a.size(), j = list_b.size(); i != 0 || j != 0;) {
        const std::uint8_t step = steps[i * (list_b.size() + 1) + j];
        if (!is_gap) {
            match(list_a[--i], list_b[--j]);
            is_gap = step & PairAfterGap;
        } else {
            (step & GapInB ? j : i) -= 1;
            is_gap = step & GapAfterGap;
        }
    }
}

/// What all below two nodes with the same key costs at least.
std::uint64_t TreeAligner::distance(std::uint32_t node_a, std::uint32_t node_b) {
    const OrderedNode &a = a_.nodes[node_a], &b = b_.nodes[node_b];
    if (a.hash == b.hash) return 0;
    if (depth_ == most_depth) return (a.events + b.events) * event_cost;
    const auto [known, is_new] = known_.try_emplace(mix(a.hash + a.events) * golden ^ mix(b.hash + b.events)); // equal subtrees may have other weights
    std::uint64_t& result = known->second;                                                                     // stays where it is
    if (!is_new) return result;
    ++depth_;
    const std::vector<std::uint32_t> list_a = a_.children(node_a), list_b = b_.children(node_b);
    const EqualEnds ends(a_, list_a, b_, list_b);
    result = least_cost(ends.between(list_a), ends.between(list_b), nullptr) / 2 + (a.own != b.own ? event_cost : 0);
    --depth_;
    return result;
}

/// The least cost of two lists, times 2, and 1 if they end in a gap.
std::uint64_t TreeAligner::least_cost(Nodes list_a, Nodes list_b, std::vector<std::uint8_t>* steps) {
    const std::size_t m = list_b.size();
    std::vector<std::uint64_t> paired(m + 1, never), gap(m + 1, never); // by elements of B; at first of the row above
    for (std::size_t i = 0; i <= list_a.size(); ++i) {
        std::uint64_t above_left = never;
        bool is_left_gap = false; // which one that is
        for (std::size_t j = 0; j <= m; ++j) {
            std::uint8_t step = 0;
            std::uint64_t pair_cost = i == 0 && j == 0 ? 0 : never, gap_cost = never;
            if (i != 0 && j != 0 && a_.nodes[list_a[i - 1]].key == b_.nodes[list_b[j - 1]].key) {
                pair_cost = above_left + distance(list_a[i - 1], list_b[j - 1]);
                if (is_left_gap) step |= PairAfterGap;
            }
            const auto offer_gap = [&](std::uint64_t after_pair, std::uint64_t after_gap, std::uint32_t events, std::uint8_t side) {
                const std::uint64_t cost = std::min(after_pair + 1, after_gap) + events * event_cost;
                if (cost >= gap_cost) return;
                gap_cost = cost;
                step = static_cast<std::uint8_t>((step & PairAfterGap) | side | (after_gap < after_pair + 1 ? GapAfterGap : 0));
            };
            if (i != 0) offer_gap(paired[j], gap[j], a_.nodes[list_a[i - 1]].events, 0);
            if (j != 0) offer_gap(paired[j - 1], gap[j - 1], b_.nodes[list_b[j - 1]].events, GapInB);
            above_left = std::min(paired[j], gap[j]);
            is_left_gap = gap[j] < paired[j];
            paired[j] = pair_cost;
            gap[j] = gap_cost;
            if (steps != nullptr) (*steps)[i * (m + 1) + j] = step;
        }
    }
    return 2 * std::min(paired[m], gap[m]) + (gap[m] < paired[m] ? 1 : 0);
}

TreeAlignment TreeAligner::alignment() const {
    TreeAlignment result{partner_[0]};
    const auto add = [&](const OrderedTree& tree, int side, const OrderedTree& other, std::uint64_t& events, double& time) {
        for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
            const std::uint32_t partner = partner_[side][i];
            if (tree.nodes[i].own == 0 || (partner != no_partner && other.nodes[partner].own != 0)) continue;
            ++events;
            if (!tree.time.empty()) time += tree.time[i];
        }
    };
    add(a_, 0, b_, result.events_a, result.time_a);
    add(b_, 1, a_, result.events_b, result.time_b);
    return result;
}

TreeAlignment align_trees(const OrderedTree& a, const OrderedTree& b, std::size_t cells) {
    TreeAligner aligner(a, b, cells);
    aligner.pair(0, 0);
    return aligner.alignment();
}

} // namespace libprofile::tools
