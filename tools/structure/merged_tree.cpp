#include "tools/structure/merged_tree.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/analysis/in_parallel.hpp"
#include "tools/structure/tree_alignment.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_representatives = 64;

/// Sets of processes, each once.
class ProcessSets {
  public:
    std::uint32_t number(std::vector<std::uint32_t> processes) {
        const auto [known, is_new] = numbers_.try_emplace(std::move(processes), sets_.size());
        if (is_new) sets_.push_back(known->first);
        return known->second;
    }
    std::uint32_t both(std::uint32_t a, std::uint32_t b) {
        if (a == b) return a;
        const auto [known, is_new] = unions_.try_emplace({a, b}, 0);
        if (is_new) {
            std::vector<std::uint32_t> all;
            std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(), std::back_inserter(all));
            known->second = number(std::move(all));
        }
        return known->second;
    }
    const std::vector<std::vector<std::uint32_t>>& all() const { return sets_; }

  private:
    std::vector<std::vector<std::uint32_t>> sets_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> unions_;
};

/// What was put together so far.
struct TreeCluster {
    FoldedTree folded;
    std::size_t processes = 0, representatives = 1;
};

/// Pairs of caller and callee, ascending.
std::vector<std::uint64_t> call_pairs(const OrderedTree& tree) {
    std::vector<std::uint64_t> pairs;
    for (const OrderedNode& node : tree.nodes) pairs.push_back(mix(tree.nodes[node.parent].key) * golden + node.key);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
}

std::size_t only_in_one(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    std::vector<std::uint64_t> different;
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(different));
    return different.size();
}

class ProgressiveMerger {
  public:
    void add(FoldedTree folded, const std::vector<std::uint32_t>& processes) {
        for (NodeVisits& visits : folded.visits) visits.who = sets_.number(processes);
        TreeCluster added{std::move(folded), processes.size()};
        const auto [known, is_new] = cluster_of_.try_emplace(added.folded.tree.nodes[0].hash, clusters_.size());
        if (is_new)
            clusters_.push_back(std::move(added));
        else
            join(clusters_[known->second], added);
    }

    MergedTree merge() {
        choose_representatives();
        find_distances();
        while (clusters_.size() > 1) join_nearest();
        return result();
    }

  private:
    void join(TreeCluster& to, const TreeCluster& from) {
        to.folded = combined_tree(to.folded, from.folded, [&](const NodeVisits& a, const NodeVisits& b) {
            return NodeVisits{std::min(a.least, b.least), std::max(a.most, b.most), sets_.both(a.who, b.who)};
        });
        to.processes += from.processes;
    }

    void choose_representatives() {
        if (clusters_.size() <= most_representatives) return;
        std::stable_sort(clusters_.begin(), clusters_.end(), [](const TreeCluster& a, const TreeCluster& b) { return a.processes > b.processes; });
        std::vector<std::vector<std::uint64_t>> pairs;
        for (std::size_t i = 0; i < most_representatives; ++i) pairs.push_back(call_pairs(clusters_[i].folded.tree));
        for (std::size_t i = most_representatives; i < clusters_.size(); ++i) {
            const std::vector<std::uint64_t> own = call_pairs(clusters_[i].folded.tree);
            std::vector<std::size_t> different;
            for (const std::vector<std::uint64_t>& others : pairs) different.push_back(only_in_one(own, others));
            join(clusters_[static_cast<std::size_t>(std::min_element(different.begin(), different.end()) - different.begin())], clusters_[i]);
        }
        clusters_.resize(most_representatives);
    }

    void find_distances() {
        const std::size_t n = clusters_.size();
        distance_.assign(n, std::vector<double>(n));
        in_parallel(n * n, [&](std::size_t at) {
            const std::size_t i = at / n, j = at % n;
            if (i < j) distance_[i][j] = static_cast<double>(align_trees(clusters_[i].folded.tree, clusters_[j].folded.tree, folded_cells).cost());
        });
    }

    double& distance(std::size_t i, std::size_t j) { return distance_[std::min(i, j)][std::max(i, j)]; }

    void join_nearest() {
        std::size_t to = 0, from = 1;
        for (std::size_t i = 0; i < clusters_.size(); ++i)
            for (std::size_t j = i + 1; j < clusters_.size(); ++j)
                if (distance(i, j) < distance(to, from)) to = i, from = j;
        TreeCluster &kept = clusters_[to], &joined = clusters_[from];
        const auto of_kept = static_cast<double>(kept.representatives), of_joined = static_cast<double>(joined.representatives);
        for (std::size_t k = 0; k < clusters_.size(); ++k)
            if (k != to && k != from) distance(to, k) = (of_kept * distance(to, k) + of_joined * distance(from, k)) / (of_kept + of_joined);
        join(kept, joined);
        kept.representatives += joined.representatives;
        const std::size_t last = clusters_.size() - 1;
        for (std::size_t k = 0; k < last; ++k)
            if (k != from) distance(from, k) = distance(last, k);
        std::swap(clusters_[from], clusters_[last]);
        clusters_.pop_back();
    }

    MergedTree result() const {
        const TreeCluster& all = clusters_.front();
        MergedTree merged;
        std::map<std::uint32_t, std::uint32_t> used; // sets: their new numbers
        for (std::size_t i = 0; i < all.folded.visits.size(); ++i) {
            const OrderedNode& node = all.folded.tree.nodes[i];
            const NodeVisits& visits = all.folded.visits[i];
            const auto [set, is_new] = used.try_emplace(visits.who, merged.sets.size());
            if (is_new) merged.sets.push_back(sets_.all()[visits.who]);
            const MergedClass kind = sets_.all()[visits.who].size() != all.processes ? MergedClass::NotAll
                                     : visits.least != visits.most                   ? MergedClass::Differs
                                                                                     : MergedClass::Same;
            merged.nodes.push_back({node.key, node.path, node.parent, node.end, set->second, visits.least, visits.most, kind});
        }
        return merged;
    }

    ProcessSets sets_;
    std::vector<TreeCluster> clusters_;
    std::unordered_map<std::uint64_t, std::size_t> cluster_of_; // by hash of the folded tree
    std::vector<std::vector<double>> distance_;                 // of the first one with one behind it
};

} // namespace

void TreeMerger::add(std::uint32_t process, const OrderedTree& tree) {
    const auto [known, is_new] = group_of_.try_emplace(tree.nodes[0].hash, groups_.size());
    if (is_new) groups_.push_back({folded_tree(tree), {}});
    groups_[known->second].processes.push_back(process);
}

MergedTree TreeMerger::merge() const {
    ProgressiveMerger merger;
    for (const Group& group : groups_) {
        std::vector<std::uint32_t> processes = group.processes;
        std::sort(processes.begin(), processes.end());
        merger.add(group.folded, processes);
    }
    return merger.merge();
}

} // namespace libprofile::tools
