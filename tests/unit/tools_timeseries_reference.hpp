// Difference and clustering of temporal context trees once more: slow, word for word after Algorithms 2 and 3 of Wei and Mellor-Crummey (ICS 2018), with
// absolute times, dummy nodes, and a node for every iteration. What the tools compute in groups must be the same.
// Contract: for tests; one thread; allocates freely; shares no code with the tools but the order of siblings.
#pragma once

#include "tools/timeseries/flow_order.hpp"
#include "tools/timeseries/time_node.hpp"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace libprofile::test::literal {

using namespace libprofile::tools;

/// Loops have all their iterations; iterations with one `cluster` are equal. Rejected ones are there, too, with cluster -1 and without content.
struct Node {
    ContextId context = 0;
    TimeKind kind = TimeKind::Call;
    double S = 0, E = 0;
    double least = 0, most = 0, low = 0, high = 0;
    double own = 0; // of loops and profiles
    int cluster = -1;
    std::vector<Node> children;
    std::vector<Node> iterations;

    double duration() const { return E - S; }
};

inline void shift(Node& node, double by) {
    node.S += by;
    node.E += by;
    for (Node& child : node.children) shift(child, by);
}

inline Node from(const TimeNode& node, double start) {
    Node out;
    out.context = node.context;
    out.kind = node.kind;
    out.S = start;
    out.E = start + node.duration;
    out.least = node.least;
    out.most = node.most;
    out.low = node.low;
    out.high = node.high;
    for (const TimeNode& child : node.children) {
        start += child.gap;
        out.children.push_back(from(child, start));
        start += child.duration;
    }
    out.own = node.tail;
    for (const std::uint32_t k : node.iterations) {
        Node iteration;
        if (k != rejected_iteration) iteration = from(node.clusters[k], 0);
        iteration.cluster = k == rejected_iteration ? -1 : static_cast<int>(k);
        out.iterations.push_back(std::move(iteration));
    }
    return out;
}

struct Algorithms {
    const FlowOrder& order;
    double V = 0;         // period
    double tolerance = 2; // of diffGap, in periods
    double ratio_min = 0.02, ratio_rel = 0.25;

    double diffGap(double gap0, double gap1) const {
        if (std::abs(gap0 - gap1) > tolerance * V) return std::abs(gap0 - gap1) - tolerance * V;
        return 0;
    }
    static Node dummy(const Node& n) {
        Node d;
        d.context = n.context;
        d.kind = n.kind;
        return d;
    }
    static double start(const Node& n, std::size_t i) { return i == n.children.size() ? n.E : n.children[i].S; }

    static bool has_from(const Node& n, std::size_t from, ContextId context) {
        for (std::size_t c = from; c < n.children.size(); ++c)
            if (n.children[c].context == context) return true;
        return false;
    }
    /// Of two children that differ: one without a partner further on, else the one that runs first.
    bool is_second_first(const Node& n0, std::size_t c0, const Node& n1, std::size_t c1) const {
        const ContextId x = n0.children[c0].context, y = n1.children[c1].context;
        const bool x_alone = !has_from(n1, c1, x), y_alone = !has_from(n0, c0, y);
        return x_alone == y_alone ? order.follows(y, x) : y_alone;
    }

    double diff(const Node& n0, const Node& n1) const {
        if (n0.kind == TimeKind::Loop) return diff_loops(n0, n1);
        if (n0.kind == TimeKind::Profile) return diff_profiles(n0, n1) + diffGap(n0.own, n1.own);
        double sum = 0;
        double gap0 = start(n0, 0) - n0.S, gap1 = start(n1, 0) - n1.S;
        std::size_t c0 = 0, c1 = 0;
        while (c0 < n0.children.size() || c1 < n1.children.size()) {
            const bool both = c0 < n0.children.size() && c1 < n1.children.size();
            if (both && n0.children[c0].context == n1.children[c1].context) {
                sum += diffGap(gap0, gap1);
                sum += diff(n0.children[c0], n1.children[c1]);
                gap0 = start(n0, c0 + 1) - n0.children[c0].E;
                gap1 = start(n1, c1 + 1) - n1.children[c1].E;
                ++c0, ++c1;
            } else if (both ? is_second_first(n0, c0, n1, c1) : c0 == n0.children.size()) {
                sum += diff(n1.children[c1], dummy(n1.children[c1]));
                gap1 += start(n1, c1 + 1) - n1.children[c1].E;
                ++c1;
            } else {
                sum += diff(n0.children[c0], dummy(n0.children[c0]));
                gap0 += start(n0, c0 + 1) - n0.children[c0].E;
                ++c0;
            }
        }
        return sum + diffGap(gap0, gap1);
    }
    double diff_profiles(const Node& n0, const Node& n1) const {
        double sum = 0;
        std::map<ContextId, std::pair<const Node*, const Node*>> pairs;
        for (const Node& n : n0.children) pairs[n.context].first = &n;
        for (const Node& n : n1.children) pairs[n.context].second = &n;
        for (const auto& [context, pair] : pairs) sum += diff(pair.first ? *pair.first : dummy(*pair.second), pair.second ? *pair.second : dummy(*pair.first));
        return sum;
    }
    /// All times of an iteration.
    static void add_times(const Node& n, std::map<ContextId, double>& times) {
        times[n.context] += n.duration();
        for (const Node& child : n.children) add_times(child, times);
        for (const Node& iteration : n.iterations)
            for (const Node& child : iteration.children) add_times(child, times);
    }
    static double cost(const Node* i0, const Node* i1) {
        std::map<ContextId, double> times, minus;
        if (i0 && i0->cluster >= 0) add_times(*i0, times);
        if (i1 && i1->cluster >= 0) add_times(*i1, minus);
        double sum = 0;
        for (const auto& [context, time] : times)
            if (!minus.contains(context)) sum += time;
        for (const auto& [context, time] : minus)
            if (!times.contains(context)) sum += time;
        return std::floor(sum + 0.3);
    }
    /// Loops with unlike or unequally many iterations get missing ones, so that the cost of all pairs is least.
    static void align(Node& n0, Node& n1) {
        if (n0.iterations.empty() || n1.iterations.empty() || n0.kind != TimeKind::Loop) return;
        if (n0.iterations.size() == n1.iterations.size()) {
            double unlike = 0, all = 0;
            for (std::size_t k = 0; k < n0.iterations.size(); ++k) {
                unlike += cost(&n0.iterations[k], &n1.iterations[k]);
                all += cost(&n0.iterations[k], nullptr) + cost(nullptr, &n1.iterations[k]);
            }
            if (unlike <= 0.1 * all) return;
        }
        const std::size_t N = n0.iterations.size(), M = n1.iterations.size();
        std::vector<std::vector<double>> least(N + 1, std::vector<double>(M + 1, INFINITY));
        least[0][0] = 0;
        const auto both = [&](std::size_t i, std::size_t j) {
            return i && j ? least[i - 1][j - 1] + cost(&n0.iterations[i - 1], &n1.iterations[j - 1]) : INFINITY;
        };
        const auto only0 = [&](std::size_t i, std::size_t j) { return i ? least[i - 1][j] + cost(&n0.iterations[i - 1], nullptr) : INFINITY; };
        const auto only1 = [&](std::size_t i, std::size_t j) { return j ? least[i][j - 1] + cost(nullptr, &n1.iterations[j - 1]) : INFINITY; };
        for (std::size_t i = 0; i <= N; ++i)
            for (std::size_t j = 0; j <= M; ++j)
                if (i || j) least[i][j] = std::min({both(i, j), only0(i, j), only1(i, j)});
        for (std::size_t i = N, j = M; i || j;) {
            if (both(i, j) == least[i][j])
                --i, --j;
            else if (only0(i, j) == least[i][j])
                n1.iterations.insert(n1.iterations.begin() + static_cast<std::ptrdiff_t>(j), Node()), --i;
            else
                n0.iterations.insert(n0.iterations.begin() + static_cast<std::ptrdiff_t>(i), Node()), --j;
        }
    }
    double diff_loops(Node n0, Node n1) const {
        align(n0, n1);
        double sum = diff_profiles(n0, n1) + diffGap(n0.own, n1.own);
        for (std::size_t k = 0; k < std::max(n0.iterations.size(), n1.iterations.size()); ++k) {
            const Node* i0 = k < n0.iterations.size() && n0.iterations[k].cluster >= 0 ? &n0.iterations[k] : nullptr;
            const Node* i1 = k < n1.iterations.size() && n1.iterations[k].cluster >= 0 ? &n1.iterations[k] : nullptr;
            if (i0 || i1) sum += diff(i0 ? *i0 : dummy(*i1), i1 ? *i1 : dummy(*i0));
        }
        return sum;
    }
    double diffRatio(const Node& n0, const Node& n1) const {
        const double time = n0.duration() + n1.duration();
        return time == 0 ? 0 : diff(n0, n1) / time;
    }

    /// The weighted mean; one that is missing is a dummy.
    Node merge(const Node& n0, double w0, const Node& n1, double w1, bool of_threads) const {
        const auto mean = [&](double a, double b) { return (w0 * a + w1 * b) / (w0 + w1); };
        Node out = dummy(n0);
        out.E = mean(n0.duration(), n1.duration());
        out.own = mean(n0.own, n1.own);
        out.least = std::min(n0.least, n1.least);
        out.most = std::max(n0.most, n1.most);
        out.low = of_threads ? std::min(n0.low, n1.low) : mean(n0.low, n1.low);
        out.high = of_threads ? std::max(n0.high, n1.high) : mean(n0.high, n1.high);
        if (n0.kind == TimeKind::Loop || n0.kind == TimeKind::Profile) {
            std::map<ContextId, std::pair<const Node*, const Node*>> pairs;
            for (const Node& n : n0.children) pairs[n.context].first = &n;
            for (const Node& n : n1.children) pairs[n.context].second = &n;
            for (const auto& [context, pair] : pairs)
                out.children.push_back(
                    merge(pair.first ? *pair.first : dummy(*pair.second), w0, pair.second ? *pair.second : dummy(*pair.first), w1, of_threads));
            if (n0.kind == TimeKind::Loop) merge_iterations(out, n0, w0, n1, w1, of_threads);
            return out;
        }
        double time = 0;
        std::size_t c0 = 0, c1 = 0;
        const auto gap = [](const Node& n, std::size_t c) { return start(n, c) - (c == 0 ? n.S : n.children[c - 1].E); };
        const auto add = [&](Node child) {
            shift(child, time - child.S);
            time = child.E;
            out.children.push_back(std::move(child));
        };
        while (c0 < n0.children.size() || c1 < n1.children.size()) {
            const bool both = c0 < n0.children.size() && c1 < n1.children.size();
            if (both && n0.children[c0].context == n1.children[c1].context) {
                time += mean(gap(n0, c0), gap(n1, c1));
                add(merge(n0.children[c0], w0, n1.children[c1], w1, of_threads));
                ++c0, ++c1;
            } else if (both ? is_second_first(n0, c0, n1, c1) : c0 == n0.children.size()) {
                time += mean(0, gap(n1, c1));
                add(merge(dummy(n1.children[c1]), w0, n1.children[c1], w1, of_threads));
                ++c1;
            } else {
                time += mean(gap(n0, c0), 0);
                add(merge(n0.children[c0], w0, dummy(n0.children[c0]), w1, of_threads));
                ++c0;
            }
        }
        return out;
    }
    void merge_iterations(Node& out, Node n0, double w0, Node n1, double w1, bool of_threads) const {
        align(n0, n1);
        std::map<std::pair<unsigned, unsigned>, std::pair<Node, std::vector<std::size_t>>> groups; // -1 comes last
        const std::size_t n = std::max(n0.iterations.size(), n1.iterations.size());
        out.iterations.resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            const int x = k < n0.iterations.size() ? n0.iterations[k].cluster : -1, y = k < n1.iterations.size() ? n1.iterations[k].cluster : -1;
            if (x < 0 && y < 0) continue;
            auto& [node, members] = groups[{static_cast<unsigned>(x), static_cast<unsigned>(y)}];
            if (members.empty())
                node = merge(x < 0 ? dummy(n1.iterations[k]) : n0.iterations[k], w0, y < 0 ? dummy(n0.iterations[k]) : n1.iterations[k], w1, of_threads);
            members.push_back(k);
        }
        std::vector<Cluster> set;
        for (auto& [key, group] : groups) set.push_back({group.first, static_cast<double>(group.second.size()), group.second});
        const std::size_t K = most_clusters(n);
        std::vector<Cluster> clusters = set.size() <= K ? mergeClusterSet(set, {}, K, false) : getClusterSet(set, 0, set.size(), K, false);
        for (std::size_t c = 0; c < clusters.size(); ++c)
            for (const std::size_t k : clusters[c].members) {
                out.iterations[k] = clusters[c].node;
                out.iterations[k].cluster = static_cast<int>(c);
            }
    }

    struct Cluster {
        Node node;
        double weight = 1;
        std::vector<std::size_t> members;
    };
    static std::size_t most_clusters(std::size_t M) { return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(std::log2(static_cast<double>(M))))); }

    std::vector<Cluster> getClusterSet(const std::vector<Cluster>& N, std::size_t h, std::size_t e, std::size_t K, bool of_threads) const {
        if (e - h <= K) return {N.begin() + static_cast<std::ptrdiff_t>(h), N.begin() + static_cast<std::ptrdiff_t>(e)};
        const std::size_t mid = (h + e) / 2;
        return mergeClusterSet(getClusterSet(N, h, mid, K, of_threads), getClusterSet(N, mid, e, K, of_threads), K, of_threads);
    }
    /// All ratios anew after each merge.
    std::vector<Cluster> mergeClusterSet(std::vector<Cluster> S, const std::vector<Cluster>& S1, std::size_t K, bool of_threads) const {
        S.insert(S.end(), S1.begin(), S1.end());
        while (S.size() > 1) {
            double min = INFINITY, max = 0;
            std::size_t first = 0, second = 0;
            for (std::size_t i = 0; i < S.size(); ++i)
                for (std::size_t j = i + 1; j < S.size(); ++j) {
                    const double ratio = diffRatio(S[i].node, S[j].node);
                    if (ratio < min) min = ratio, first = i, second = j;
                    if (ratio > max) max = ratio;
                }
            if (!(min < ratio_min || min / max < ratio_rel || S.size() > K)) break;
            Cluster C = S[first];
            C.node = merge(S[first].node, S[first].weight, S[second].node, S[second].weight, of_threads);
            C.weight += S[second].weight;
            C.members.insert(C.members.end(), S[second].members.begin(), S[second].members.end());
            std::sort(C.members.begin(), C.members.end());
            S[first] = C;
            S.erase(S.begin() + static_cast<std::ptrdiff_t>(second));
        }
        return S;
    }
};

} // namespace libprofile::test::literal
