#include "tools/comparison/changed_calls.hpp"

#include "tools/processes/typical_iteration.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace libprofile::tools {

namespace {

constexpr std::size_t cells_of_pair = usual_cells / most_different_pairs; // so all of them take no longer than one alignment may

bool is_in_first(TreeChangeKind kind) {
    return kind == TreeChangeKind::Removed || kind == TreeChangeKind::Inlined || kind == TreeChangeKind::LessOften || kind == TreeChangeKind::Renamed;
}

bool is_of_function(TreeChangeKind kind) { return kind == TreeChangeKind::Renamed || kind == TreeChangeKind::Inlined || kind == TreeChangeKind::Outlined; }

struct Range {
    std::uint64_t least = 0, most = 0;
    void add(std::uint64_t value) {
        least = most == 0 ? value : std::min(least, value);
        most = std::max(most, value);
    }
};

using ChangeName = std::tuple<TreeChangeKind, std::string, std::string, std::string>; // call, caller, now

/// What one pair of trees says of a change.
struct ChangeOfPair {
    std::uint64_t times = 0;
    bool is_in_a_row = false;
    Range calls;
};

/// What all pairs say of it, by rank.
struct ChangeOfRank {
    bool is_in_a_row = false;
    std::vector<std::uint64_t> iterations;
    Range times, calls;
};

class ChangeNames {
  public:
    ChangeNames(const CommonPaths& paths, const SequencePair& pair) : paths_(paths), pair_(pair) {}

    ChangeName name(const TreeChange& change) const {
        const bool in_first = is_in_first(change.kind);
        const OrderedTree& tree = in_first ? pair_.before : pair_.after;
        std::uint32_t node = in_first ? change.node_a : change.node_b;
        std::string now;
        if (change.kind == TreeChangeKind::Renamed) now = name_of(pair_.after, change.node_b);
        if (change.kind == TreeChangeKind::Moved) now = before(change.node_b);
        if (!is_of_function(change.kind) && change.kind != TreeChangeKind::Moved) node = named_node(tree, node);
        return {change.kind, name_of(tree, node), name_of(tree, tree.nodes[node].parent), std::move(now)};
    }

  private:
    std::string name_of(const OrderedTree& tree, std::uint32_t node) const { return node == 0 ? "" : paths_.name(tree.nodes[node].path); }

    /// The call before a node, by the same caller.
    std::string before(std::uint32_t node) const {
        std::uint32_t last = 0;
        for (const std::uint32_t child : pair_.after.children(pair_.after.nodes[node].parent)) {
            if (child == node) break;
            last = child;
        }
        return name_of(pair_.after, last);
    }

    const CommonPaths& paths_;
    const SequencePair& pair_;
};

std::map<ChangeName, ChangeOfPair> changes_of(const CommonPaths& paths, const SequencePair& pair) {
    std::map<ChangeName, ChangeOfPair> changes;
    const ChangeNames names(paths, pair);
    for (const TreeChange& change : tree_changes(pair.before, pair.after, cells_of_pair).changes) {
        ChangeOfPair& to = changes[names.name(change)];
        to.times += change.times;
        const OrderedNode& first = is_in_first(change.kind) ? pair.before.nodes[change.node_a] : pair.after.nodes[change.node_b];
        to.is_in_a_row = to.is_in_a_row || (!is_of_function(change.kind) && change.events > change.times * first.events);
        to.calls.add(is_of_function(change.kind) ? 0 : change.events / std::max<std::uint64_t>(change.times, 1));
    }
    return changes;
}

} // namespace

ChangedCalls changed_calls(const SequencePairs& pairs) {
    ChangedCalls result;
    result.has_order = pairs.has_order;
    result.unknown = pairs.unknown;
    std::map<ChangeName, std::map<std::uint32_t, ChangeOfRank>> found;
    for (const SequencePair& pair : pairs.pairs) {
        result.compared += pair.iterations;
        if (pair.is_equal()) continue;
        result.different += pair.iterations;
        if (pair.before.nodes.empty()) {
            result.untold += pair.iterations;
            continue;
        }
        for (const auto& [name, change] : changes_of(pairs.paths, pair))
            for (const PairOnRank& part : pair.ranks) {
                ChangeOfRank& to = found[name][part.rank];
                to.iterations.insert(to.iterations.end(), part.iterations.begin(), part.iterations.end());
                to.is_in_a_row = to.is_in_a_row || change.is_in_a_row;
                to.times.add(change.times);
                to.calls.add(change.calls.least);
                to.calls.add(change.calls.most);
            }
    }
    result.ranks_of_runs = pairs.ranks_of_runs;
    for (auto& [name, by_rank] : found) {
        std::map<std::vector<std::uint64_t>, std::size_t> known; // where else the same iterations are
        for (auto& [rank, change] : by_rank) {
            std::sort(change.iterations.begin(), change.iterations.end());
            const auto [at, is_new] = known.try_emplace(change.iterations, result.calls.size());
            if (is_new) {
                const auto& [kind, call, caller, now] = name;
                result.calls.push_back({kind,
                                        call,
                                        change.is_in_a_row,
                                        caller,
                                        now,
                                        {},
                                        change.iterations,
                                        change.times.least,
                                        change.times.most,
                                        change.calls.least,
                                        change.calls.most});
            }
            ChangedCall& to = result.calls[at->second];
            to.ranks.push_back(rank);
            to.is_in_a_row = to.is_in_a_row || change.is_in_a_row;
            to.least = std::min(to.least, change.times.least);
            to.most = std::max(to.most, change.times.most);
            to.least_calls = std::min(to.least_calls, change.calls.least);
            to.most_calls = std::max(to.most_calls, change.calls.most);
        }
    }
    std::stable_sort(result.calls.begin(), result.calls.end(), [](const ChangedCall& x, const ChangedCall& y) { return x.places() > y.places(); });
    return result;
}

} // namespace libprofile::tools
