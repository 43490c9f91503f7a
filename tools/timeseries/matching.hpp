// Which children of two nodes are the same, and which iterations of two loops: what comparing and merging nodes have in common.
// Contract: thread-safe (no state); linear, but for iterations that must be aligned (alignment.hpp).
//
// Source: Wei and Mellor-Crummey (ICS 2018), Algorithm 2, lines 5 to 22, and section 4.2.1.
#pragma once

#include "tools/timeseries/alignment.hpp"
#include "tools/timeseries/flow_order.hpp"
#include "tools/timeseries/time_node.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace libprofile::tools {

/// How often each context is among the children from here on.
class ChildrenLeft {
  public:
    explicit ChildrenLeft(const std::vector<TimeNode>& children) {
        for (const TimeNode& child : children) ++left_[child.context];
    }
    void pass(ContextId context) { --left_[context]; }
    bool has(ContextId context) const {
        const auto at = left_.find(context);
        return at != left_.end() && at->second != 0;
    }

  private:
    std::unordered_map<ContextId, std::uint32_t> left_;
};

/// Walks the children of both in the order of Algorithm 2. Calls both(i, j) for a pair of the same context, only_a(i) and only_b(j) for the others.
/// Of two that differ, one that has no partner any more is passed first. Else one whose place in the order is doubtful, as that of functions called
/// through one pointer, would make all behind it lose their partners.
/// @param in_order false: children are sorted by context (profiles)
template <class Both, class OnlyA, class OnlyB> void match_children(const FlowOrder& order, const std::vector<TimeNode>& a, const std::vector<TimeNode>& b,
                                                                    bool in_order, Both both, OnlyA only_a, OnlyB only_b) {
    std::size_t i = 0, j = 0;
    std::optional<ChildrenLeft> left_a, left_b; // from the first difference on
    while (i < a.size() && j < b.size()) {
        const ContextId at_a = a[i].context, at_b = b[j].context;
        bool pass_a = true, pass_b = true;
        if (at_a != at_b && !in_order) {
            pass_b = at_b < at_a;
            pass_a = !pass_b;
        } else if (at_a != at_b) {
            if (!left_a) {
                left_a.emplace(a);
                left_b.emplace(b);
                for (std::size_t k = 0; k < i; ++k) left_a->pass(a[k].context);
                for (std::size_t k = 0; k < j; ++k) left_b->pass(b[k].context);
            }
            const bool alone_a = !left_b->has(at_a), alone_b = !left_a->has(at_b);
            pass_b = alone_a == alone_b ? order.follows(at_b, at_a) : alone_b;
            pass_a = !pass_b;
        }
        if (left_a && pass_a) left_a->pass(at_a);
        if (left_b && pass_b) left_b->pass(at_b);
        if (pass_a && pass_b)
            both(i++, j++);
        else if (pass_b)
            only_b(j++);
        else
            only_a(i++);
    }
    while (i < a.size()) only_a(i++);
    while (j < b.size()) only_b(j++);
}

/// The pairs of clusters that the same iterations of two loops are in: as alignment.hpp pairs them.
class IterationPairs {
  public:
    IterationPairs(const TimeNode& a, const TimeNode& b)
        : none_a_(a.clusters.size()), none_b_(b.clusters.size()), pairs_(aligned(a, b)), counts_((none_a_ + 1) * (none_b_ + 1)) {
        for (std::size_t k = 0; k < iterations(); ++k) ++counts_[index(k)];
    }
    IterationPairs(const IterationPairs&) = delete;
    IterationPairs& operator=(const IterationPairs&) = delete;

    /// Calls visit(x, y, count) for pairs that occur. x or y is the number of clusters if the iteration is missing or rejected there, not both.
    template <class Visit> void for_each(Visit visit) const {
        for (std::size_t i = 0; i + 1 < counts_.size(); ++i)
            if (counts_[i] != 0) visit(i / (none_b_ + 1), i % (none_b_ + 1), counts_[i]);
    }
    /// Of both loops together.
    std::size_t iterations() const { return pairs_.a.size(); }
    /// The pair of an iteration, below size().
    std::size_t index(std::size_t k) const {
        return (pairs_.a[k] == rejected_iteration ? none_a_ : pairs_.a[k]) * (none_b_ + 1) + (pairs_.b[k] == rejected_iteration ? none_b_ : pairs_.b[k]);
    }
    std::size_t size() const { return counts_.size(); }

  private:
    std::size_t none_a_, none_b_;
    AlignedIterations pairs_;
    std::vector<std::uint32_t> counts_;
};

} // namespace libprofile::tools
