// Groups like iterations of a loop, and like threads of a job, into a few clusters with a representative each.
// Contract: thread-safe; the result depends neither on the number of threads that work nor on their order; throws what `instance` throws.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.2, Algorithm 3 and 4.2.1, 4.2.2; K-farthest clustering of Bahmani and Mueller (2015).
// Decisions:
// - Line 4 of Algorithm 3 means N[i].
// - The paper only has K = O(log2 M). Ours is ceil(log2 M), at least 1; so two instances make one cluster. K = 2 for two would not compare them:
//   lines 2 to 5 return up to K instances as they are, so two that are equal would stay two, against Ratio_min.
// - Of pairs with the same ratio, the first one is merged. The merged cluster takes the place of its first part.
// - Algorithm 2 may depend on which node comes first: that with the first member.
// - Threads that have little in common make means of very many nodes. Such a mean becomes a profile, which loses the order of time (most_nodes).
// - With a largest ratio of 0, all are alike, which Ratio_min covers.
#pragma once

#include "tools/timeseries/difference.hpp"
#include "tools/timeseries/merging.hpp"
#include "tools/timeseries/parameters.hpp"

#include <functional>
#include <vector>

namespace libprofile::tools {

struct TimeCluster {
    TimeNode representative;            // mean of its members, with least and most
    double weight = 1;                  // instances that it stands for
    std::size_t largest = 0;            // nodes of the largest of them
    std::vector<std::uint32_t> members; // in ascending order
};

class Clustering {
  public:
    /// @param period ns between two samples; of threads that differ, the longest
    Clustering(const FlowOrder& order, double period, const TimeSeriesParameters& parameters)
        : order_(&order), parameters_(parameters), difference_(order, parameters.gap_tolerance * period) {}

    /// K for so many instances.
    std::uint32_t most_clusters(std::size_t instances) const;
    /// getClusterSet(): clusters of instance(0) to instance(n - 1), each of which is asked for once, when it is needed. In the order of their first
    /// members. With MergeOf::Threads, instances are asked for on several threads.
    std::vector<TimeCluster> operator()(std::size_t n, const std::function<TimeNode(std::size_t)>& instance, MergeOf what) const;
    /// Makes few clusters of a loop's iterations, of which each is one.
    void cluster_iterations(TimeNode& loop) const;
    /// Merges all clusters of threads into one node.
    TimeNode mean_of(const std::vector<TimeCluster>& clusters) const;

  private:
    using Instance = std::function<TimeNode(std::size_t)>;
    struct Task;

    Merging merging(MergeOf what) const;
    void reduce(TimeNode& loop) const;
    void add(TimeCluster& into, TimeCluster&& gone, MergeOf what) const;
    std::vector<TimeCluster> set_of(const Instance& instance, std::size_t begin, std::size_t end, std::size_t k, MergeOf what) const;
    void merge_into(std::vector<TimeCluster>& set, std::vector<TimeCluster>&& other, std::size_t k, MergeOf what, bool parallel) const;
    void split(std::size_t begin, std::size_t end, std::size_t k, std::size_t parts, std::vector<Task>& tasks) const;
    std::vector<TimeCluster> joined(std::size_t begin, std::size_t end, std::size_t k, std::size_t parts, std::vector<Task>& tasks, std::size_t& next) const;

    const FlowOrder* order_;
    TimeSeriesParameters parameters_;
    TreeDifference difference_;
};

} // namespace libprofile::tools
