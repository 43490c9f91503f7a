// Which children of two nodes are the same, and which iterations of two loops: what comparing and merging nodes have in common.
// Contract: thread-safe (no state); linear, but for iterations that must be aligned (alignment.hpp).
//
// Source: Wei and Mellor-Crummey (ICS 2018), Algorithm 2, lines 5 to 22, and section 4.2.1.
#pragma once

#include "tools/timeseries/alignment.hpp"
#include "tools/timeseries/flow_order.hpp"
#include "tools/timeseries/time_node.hpp"

#include <algorithm>
#include <vector>

namespace libprofile::tools {

/// Walks the children of both in the order of Algorithm 2. Calls both(i, j) for a pair of the same context, only_a(i) and only_b(j) for the others.
/// @param in_order false: children are sorted by context (profiles)
template <class Both, class OnlyA, class OnlyB> void match_children(const FlowOrder& order, const std::vector<TimeNode>& a, const std::vector<TimeNode>& b,
                                                                    bool in_order, Both both, OnlyA only_a, OnlyB only_b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        const ContextId at_a = a[i].context, at_b = b[j].context;
        if (at_a == at_b)
            both(i++, j++);
        else if (in_order ? order.follows(at_b, at_a) : at_b < at_a)
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
