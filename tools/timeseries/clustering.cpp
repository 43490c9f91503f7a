#include "tools/timeseries/clustering.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/timeseries/profile_nodes.hpp"

#include <bit>
#include <iterator>
#include <utility>

namespace libprofile::tools {

namespace {

/// The ratios of all pairs of a set.
class PairRatios {
  public:
    struct Extremes {
        std::size_t first = 0, second = 0; // the closest pair
        double least = 0, most = 0;
    };

    explicit PairRatios(std::size_t n) : n_(n), ratios_(n * n) {}
    double& at(std::size_t i, std::size_t j) { return ratios_[i * n_ + j]; }

    Extremes extremes(const std::vector<std::size_t>& left) const {
        Extremes e;
        bool any = false;
        for (std::size_t i = 0; i < left.size(); ++i)
            for (std::size_t j = i + 1; j < left.size(); ++j) {
                const double ratio = ratios_[left[i] * n_ + left[j]];
                if (!any || ratio < e.least) e = {i, j, ratio, e.most};
                if (!any || ratio > e.most) e.most = ratio;
                any = true;
            }
        return e;
    }

  private:
    std::size_t n_;
    std::vector<double> ratios_; // only those with i < j are used
};

} // namespace

/// Instances that are clustered on their own before they meet others.
struct Clustering::Task {
    std::size_t begin = 0, end = 0;
    std::vector<TimeCluster> clusters;
};

std::uint32_t Clustering::most_clusters(std::size_t instances) const {
    if (parameters_.most_clusters != 0) return parameters_.most_clusters;
    return std::max(1u, instances < 2 ? 1u : static_cast<std::uint32_t>(std::bit_width(instances - 1)));
}

Merging Clustering::merging(MergeOf what) const {
    return {*order_, what, [this](TimeNode& loop) { reduce(loop); }};
}

/// Makes one cluster of two.
void Clustering::add(TimeCluster& into, TimeCluster&& gone, MergeOf what) const {
    into.representative = merging(what)(into.representative, into.weight, gone.representative, gone.weight);
    into.weight += gone.weight;
    std::vector<std::uint32_t> members;
    std::merge(into.members.begin(), into.members.end(), gone.members.begin(), gone.members.end(), std::back_inserter(members));
    into.members = std::move(members);
    gone.representative = {};
    if (what == MergeOf::Iterations) return; // they are parts of one tree
    into.largest = std::max(into.largest, gone.largest);
    if (number_of_nodes(into.representative) > std::max<std::size_t>(parameters_.most_nodes, 2 * into.largest))
        into.representative = profile_of(std::move(into.representative));
}

/// mergeClusterSet().
void Clustering::merge_into(std::vector<TimeCluster>& set, std::vector<TimeCluster>&& other, std::size_t k, MergeOf what, bool parallel) const {
    std::move(other.begin(), other.end(), std::back_inserter(set));
    const std::size_t n = set.size();
    if (n < 2) return;
    PairRatios ratios(n);
    const auto compare = [&](std::size_t i) {
        for (std::size_t j = i + 1; j < n; ++j) ratios.at(i, j) = difference_.ratio(set[i].representative, set[j].representative);
    };
    if (parallel)
        in_parallel(n - 1, compare, parameters_.workers);
    else
        for (std::size_t i = 0; i + 1 < n; ++i) compare(i);

    std::vector<std::size_t> left(n); // positions in `set`
    for (std::size_t i = 0; i < n; ++i) left[i] = i;
    while (left.size() > 1) {
        const PairRatios::Extremes e = ratios.extremes(left);
        const bool is_close = e.least < parameters_.ratio_min || e.least < parameters_.ratio_rel * e.most;
        if (!is_close && left.size() <= k) break;
        const std::size_t kept = left[e.first];
        add(set[kept], std::move(set[left[e.second]]), what);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(e.second));
        for (const std::size_t i : left) {
            const auto [first, second] = std::minmax(i, kept);
            if (first != second) ratios.at(first, second) = difference_.ratio(set[first].representative, set[second].representative);
        }
    }
    std::vector<TimeCluster> result;
    result.reserve(left.size());
    for (const std::size_t i : left) result.push_back(std::move(set[i]));
    set = std::move(result);
}

/// getClusterSet() on one thread.
std::vector<TimeCluster> Clustering::set_of(const Instance& instance, std::size_t begin, std::size_t end, std::size_t k, MergeOf what) const {
    std::vector<TimeCluster> set;
    if (end - begin <= k) {
        for (std::size_t i = begin; i < end; ++i) {
            TimeCluster& cluster = set.emplace_back(TimeCluster{instance(i), 1, 0, {static_cast<std::uint32_t>(i)}});
            if (what == MergeOf::Iterations)
                cluster.weight = cluster.representative.count;
            else
                cluster.largest = number_of_nodes(cluster.representative);
        }
        return set;
    }
    const std::size_t middle = (begin + end) / 2;
    set = set_of(instance, begin, middle, k, what);
    merge_into(set, set_of(instance, middle, end, k, what), k, what, false);
    return set;
}

void Clustering::split(std::size_t begin, std::size_t end, std::size_t k, std::size_t parts, std::vector<Task>& tasks) const {
    if (parts <= 1 || end - begin <= k) {
        tasks.push_back({begin, end, {}});
        return;
    }
    split(begin, (begin + end) / 2, k, parts / 2, tasks);
    split((begin + end) / 2, end, k, parts / 2, tasks);
}

std::vector<TimeCluster> Clustering::joined(std::size_t begin, std::size_t end, std::size_t k, std::size_t parts, std::vector<Task>& tasks,
                                            std::size_t& next) const {
    if (parts <= 1 || end - begin <= k) return std::move(tasks[next++].clusters);
    std::vector<TimeCluster> set = joined(begin, (begin + end) / 2, k, parts / 2, tasks, next);
    merge_into(set, joined((begin + end) / 2, end, k, parts / 2, tasks, next), k, MergeOf::Threads, true);
    return set;
}

std::vector<TimeCluster> Clustering::operator()(std::size_t n, const Instance& instance, MergeOf what) const {
    const std::size_t k = most_clusters(n);
    if (what == MergeOf::Iterations) return set_of(instance, 0, n, k, what);
    // The halves of halves at the same time; where they are cut is the same for any number of workers.
    constexpr std::size_t parts = 8;
    std::vector<Task> tasks;
    split(0, n, k, parts, tasks);
    in_parallel(
        tasks.size(), [&](std::size_t i) { tasks[i].clusters = set_of(instance, tasks[i].begin, tasks[i].end, k, what); }, parameters_.workers);
    std::size_t next = 0;
    return joined(0, n, k, parts, tasks, next);
}

namespace {

/// The loop's iterations in these clusters of its clusters.
void set_clusters(TimeNode& loop, std::vector<TimeCluster>&& clusters) {
    std::vector<std::uint32_t> place(loop.clusters.size());
    for (std::size_t c = 0; c < clusters.size(); ++c)
        for (const std::uint32_t member : clusters[c].members) place[member] = static_cast<std::uint32_t>(c);
    loop.clusters.clear();
    for (TimeCluster& cluster : clusters) {
        cluster.representative.count = static_cast<std::uint32_t>(cluster.weight);
        loop.clusters.push_back(std::move(cluster.representative));
    }
    for (std::uint32_t& iteration : loop.iterations)
        if (iteration != rejected_iteration) iteration = place[iteration];
}

} // namespace

void Clustering::cluster_iterations(TimeNode& loop) const {
    if (loop.clusters.size() < 2) return;
    set_clusters(loop, (*this)(
                           loop.clusters.size(), [&](std::size_t i) { return std::move(loop.clusters[i]); }, MergeOf::Iterations));
}

/// The same for a merged loop, whose clusters are several iterations each.
void Clustering::reduce(TimeNode& loop) const {
    if (loop.clusters.size() < 2) return;
    const std::size_t k = most_clusters(loop.iterations.size());
    std::vector<TimeCluster> set = set_of([&](std::size_t i) { return std::move(loop.clusters[i]); }, 0, loop.clusters.size(), k, MergeOf::Iterations);
    if (loop.clusters.size() <= k) merge_into(set, {}, k, MergeOf::Iterations, false);
    set_clusters(loop, std::move(set));
}

TimeNode Clustering::mean_of(const std::vector<TimeCluster>& clusters) const {
    if (clusters.empty()) return {};
    TimeCluster mean = clusters[0];
    for (std::size_t i = 1; i < clusters.size(); ++i) add(mean, TimeCluster(clusters[i]), MergeOf::Threads);
    return std::move(mean.representative);
}

} // namespace libprofile::tools
