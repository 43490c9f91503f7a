#include "tools/structure/folded_tree.hpp"

#include "tools/structure/tree_alignment.hpp"

#include <algorithm>
#include <unordered_map>

namespace libprofile::tools {

namespace {

constexpr std::size_t longest_fold = 32; // calls of a pass

/// A call, and how often it was made with exactly the same below it.
struct RepeatedCall {
    std::uint32_t what = 0;
    std::uint64_t times = 1;
};

/// Calls refer to those below them: a copy for each caller would take the square of the depth.
struct FoldedCall {
    OrderedNode node;
    std::vector<RepeatedCall> calls;
    FoldedTree passes; // if there are nodes: all of it, put together of calls with other calls below
};

class TreeFolder {
  public:
    explicit TreeFolder(const OrderedTree& tree) : tree_(tree) {}

    FoldedTree fold() {
        for (auto i = static_cast<std::uint32_t>(tree_.nodes.size()); i-- != 0;) { // children come before what calls them
            if (call_of_.contains(tree_.nodes[i].hash)) continue;
            std::vector<RepeatedCall> calls;
            for (std::uint32_t child = i + 1; child < tree_.nodes[i].end; child = tree_.nodes[child].end) {
                calls.push_back({call_of_.at(tree_.nodes[child].hash)});
                fold_last(calls);
            }
            call_of_[tree_.nodes[i].hash] = add({tree_.nodes[i], std::move(calls), {}});
        }
        return unfolded({call_of_.at(tree_.nodes[0].hash)});
    }

  private:
    std::uint32_t add(FoldedCall call) {
        calls_.push_back(std::move(call));
        return static_cast<std::uint32_t>(calls_.size() - 1);
    }

    /// Puts the last calls to those before them, if both are passes of the same loop.
    void fold_last(std::vector<RepeatedCall>& calls) {
        const auto have_same_key = [&](const RepeatedCall& a, const RepeatedCall& b) { return calls_[a.what].node.key == calls_[b.what].node.key; };
        for (std::size_t length = 1; length <= longest_fold && 2 * length <= calls.size(); ++length) {
            const auto last = calls.end() - static_cast<std::ptrdiff_t>(length), before = last - static_cast<std::ptrdiff_t>(length);
            if (!std::equal(last, calls.end(), before, have_same_key)) continue;
            for (auto call = last, to = before; call != calls.end(); ++call, ++to) put_to(*to, *call);
            calls.erase(last, calls.end());
            return;
        }
    }

    void put_to(RepeatedCall& to, const RepeatedCall& call) {
        if (to.what == call.what) {
            to.times += call.times;
            return;
        }
        const auto sum = [](const NodeVisits& a, const NodeVisits& b) { return NodeVisits{a.least + b.least, a.most + b.most, a.who}; };
        FoldedTree both = combined_tree(unfolded(to), unfolded(call), sum);
        const OrderedNode node = both.tree.nodes[0];
        to = {add({node, {}, std::move(both)})};
    }

    FoldedTree unfolded(const RepeatedCall& root) const {
        struct Item {
            RepeatedCall call;
            std::uint32_t parent;
        };
        FoldedTree result;
        std::vector<Item> open = {{root, 0}};
        while (!open.empty()) {
            const auto [repeated, parent] = open.back();
            open.pop_back();
            const FoldedCall& call = calls_[repeated.what];
            const auto number = static_cast<std::uint32_t>(result.tree.nodes.size());
            const auto append = [&](const OrderedNode& node, std::uint32_t from, NodeVisits visits) {
                result.tree.nodes.push_back({.key = node.key, .path = node.path, .parent = from, .own = node.own});
                result.visits.push_back({visits.least * repeated.times, visits.most * repeated.times, visits.who});
            };
            if (call.passes.visits.empty()) append(call.node, parent, {});
            for (std::size_t i = 0; i < call.passes.visits.size(); ++i)
                append(call.passes.tree.nodes[i], i == 0 ? parent : number + call.passes.tree.nodes[i].parent, call.passes.visits[i]);
            for (auto below = call.calls.rbegin(); below != call.calls.rend(); ++below) open.push_back({{below->what, below->times * repeated.times}, number});
        }
        complete_tree(result.tree);
        return result;
    }

    const OrderedTree& tree_;
    std::vector<FoldedCall> calls_;
    std::unordered_map<std::uint64_t, std::uint32_t> call_of_; // by hash of the whole subtree
};

} // namespace

FoldedTree folded_tree(const OrderedTree& tree) { return TreeFolder(tree).fold(); }

FoldedTree combined_tree(const FoldedTree& a, const FoldedTree& b, const CombineVisits& combine) {
    const std::vector<std::uint32_t> partner = align_trees(a.tree, b.tree, folded_cells).partner;
    struct Item {
        std::uint32_t a, b, parent; // no_partner: it is not there
    };
    FoldedTree result;
    std::vector<Item> open = {{0, 0, 0}}, inside;
    while (!open.empty()) {
        const Item item = open.back();
        open.pop_back();
        const auto number = static_cast<std::uint32_t>(result.tree.nodes.size());
        OrderedNode& node = result.tree.nodes.emplace_back(item.a != no_partner ? a.tree.nodes[item.a] : b.tree.nodes[item.b]);
        if (item.b != no_partner && b.tree.nodes[item.b].own != 0) node.own = 1;
        node.parent = item.parent;
        result.visits.push_back(item.a == no_partner   ? b.visits[item.b]
                                : item.b == no_partner ? a.visits[item.a]
                                                       : combine(a.visits[item.a], b.visits[item.b]));
        inside.clear();
        const auto of_b = item.b != no_partner ? b.tree.children(item.b) : std::vector<std::uint32_t>();
        auto next = of_b.begin();
        for (const std::uint32_t child : item.a != no_partner ? a.tree.children(item.a) : std::vector<std::uint32_t>()) {
            const std::uint32_t other = partner[child];
            if (other != no_partner)
                for (; *next != other; ++next) inside.push_back({no_partner, *next, number});
            if (other != no_partner) ++next;
            inside.push_back({child, other, number});
        }
        for (; next != of_b.end(); ++next) inside.push_back({no_partner, *next, number});
        open.insert(open.end(), inside.rbegin(), inside.rend());
    }
    complete_tree(result.tree);
    return result;
}

} // namespace libprofile::tools
