// Differences and clusters of temporal context trees: the examples of Wei and Mellor-Crummey (ICS 2018), and a second implementation on random trees.
#include "tests/unit/tools_timeseries_program.hpp"
#include "tests/unit/tools_timeseries_reference.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace libprofile;
using namespace libprofile::test;

namespace {

TimeNode node(ContextId context, double gap, double duration) {
    TimeNode n;
    n.context = context;
    n.gap = gap;
    n.tail = duration;
    set_duration(n, duration);
    return n;
}

/// Two functions deep; the outer one has a loop on lines 20 to 29 with a loop on lines 24 to 26, and four calls outside of them.
struct RandomTrees {
    const std::vector<std::uint64_t> lines{10, 12, 21, 22, 24, 25, 28, 40, 42};
    std::uint32_t main_ = 0;
    std::vector<std::uint32_t> paths_; // of samples; all used by the constructors below
    MadeUpProgram program;
    Contexts contexts;
    FlowOrder order;
    std::mt19937 random;

    explicit RandomTrees(unsigned seed) : contexts(make(seed), &program.loops), order((see(), contexts), &program.loops), random(seed) {}

    double number(double below) { return std::floor(std::uniform_real_distribution<double>(0, below)(random)); }
    bool chance(double share) { return number(1000) < 1000 * share; }

    TimeNode tree(ContextId context) {
        const Context& c = contexts[context];
        const bool is_loop = c.kind == ContextKind::Loop;
        if (!is_loop || (chance(0.1) && rejects)) {
            TimeNode n = with_random_children(context);
            return is_loop ? as_profile(std::move(n)) : n;
        }
        TimeNode loop;
        loop.context = context;
        loop.kind = TimeKind::Loop;
        loop.tail = number(3000);
        double duration = loop.tail;
        const int passes = 1 + static_cast<int>(number(5));
        for (int k = 0; k < passes; ++k) {
            if (rejects && chance(0.15)) {
                loop.iterations.push_back(rejected_iteration);
                for (const ContextId child : children(context))
                    if (chance(0.2) && std::none_of(loop.children.begin(), loop.children.end(), [&](const TimeNode& n) { return n.context == child; })) {
                        loop.children.push_back(as_profile(with_random_children(child)));
                        duration += loop.children.back().duration;
                    }
                continue;
            }
            loop.iterations.push_back(static_cast<std::uint32_t>(loop.clusters.size()));
            TimeNode pass = with_random_children(context);
            pass.kind = TimeKind::Iteration;
            duration += pass.duration;
            loop.clusters.push_back(std::move(pass));
        }
        std::sort(loop.children.begin(), loop.children.end(), [](const TimeNode& a, const TimeNode& b) { return a.context < b.context; });
        set_duration(loop, duration);
        return loop;
    }
    bool rejects = true;

  private:
    const Profile& make(unsigned seed) {
        program.loops.loops = {{20, 29}, {24, 26}};
        std::mt19937 choice(seed);
        for (const std::uint64_t from : lines)
            for (const std::uint64_t to : lines)
                if (choice() % 4 == 0) program.loops.excluded.insert({from, to});
        main_ = program.call(0, 1);
        for (const std::uint64_t line : lines) {
            paths_.push_back(program.call(program.call(program.call(main_, line), 1), 1));
            paths_.push_back(program.call(program.call(program.call(main_, line), 2), 1));
        }
        return program.profile;
    }
    void see() {
        for (const std::uint32_t path : paths_) contexts.of_sample(path);
    }
    std::vector<ContextId> children(ContextId parent) const {
        std::vector<ContextId> found;
        for (ContextId id = 1; id < contexts.size(); ++id)
            if (contexts[id].parent == parent) found.push_back(id);
        return found;
    }
    TimeNode with_random_children(ContextId context) {
        TimeNode n;
        n.context = context;
        n.tail = number(6000);
        double duration = n.tail;
        for (const ContextId child : children(context)) {
            if (!chance(0.6)) continue;
            TimeNode made = tree(child);
            made.gap = chance(0.5) ? number(5000) : 0;
            n.children.push_back(std::move(made));
        }
        if (chance(0.2)) std::shuffle(n.children.begin(), n.children.end(), random); // an order that the code does not have
        for (const TimeNode& child : n.children) duration += child.gap + child.duration;
        set_duration(n, duration);
        return n;
    }
    static TimeNode as_profile(TimeNode n) {
        // Written out here, so that the tools' own conversion is not what they are tested with.
        TimeNode out;
        out.context = n.context;
        out.kind = TimeKind::Profile;
        out.tail = n.tail;
        for (const TimeNode& child : n.children) out.tail += child.gap;
        double duration = out.tail;
        std::vector<TimeNode> parts = std::move(n.children);
        std::sort(parts.begin(), parts.end(), [](const TimeNode& a, const TimeNode& b) { return a.context < b.context; });
        for (TimeNode& child : parts) {
            if (child.kind == TimeKind::Loop) continue; // left out
            TimeNode part = child.kind == TimeKind::Profile ? std::move(child) : as_profile(std::move(child));
            part.gap = 0;
            duration += part.duration;
            out.children.push_back(std::move(part));
        }
        set_duration(out, duration);
        return out;
    }
};

/// Whether both are the same, but for rounding.
bool is_same(const TimeNode& a, const literal::Node& b, double scale) {
    const auto near = [&](double x, double y) { return std::abs(x - y) <= 1e-9 * scale; };
    if (a.context != b.context || a.children.size() != b.children.size() || a.iterations.size() != b.iterations.size()) return false;
    if (!near(a.duration, b.duration()) || !near(a.least, b.least) || !near(a.most, b.most) || !near(a.low, b.low) || !near(a.high, b.high)) return false;
    const bool ordered = a.kind == TimeKind::Call || a.kind == TimeKind::Iteration;
    double time = b.S;
    for (std::size_t i = 0; i < a.children.size(); ++i) {
        time += a.children[i].gap;
        if ((ordered && !near(time, b.children[i].S)) || !is_same(a.children[i], b.children[i], scale)) return false;
        time += a.children[i].duration;
    }
    for (std::size_t k = 0; k < a.iterations.size(); ++k) {
        if ((a.iterations[k] == rejected_iteration) != (b.iterations[k].cluster < 0)) return false;
        if (b.iterations[k].cluster >= 0 &&
            (static_cast<int>(a.iterations[k]) != b.iterations[k].cluster || !is_same(a.clusters[a.iterations[k]], b.iterations[k], scale)))
            return false;
    }
    return true;
}

void cluster_loops(const Clustering& clustering, TimeNode& n) {
    for (TimeNode& child : n.children) cluster_loops(clustering, child);
    for (TimeNode& iteration : n.clusters) cluster_loops(clustering, iteration);
    if (n.kind == TimeKind::Loop) clustering.cluster_iterations(n);
}

bool equal(const TimeNode& a, const TimeNode& b) {
    return a.context == b.context && a.kind == b.kind && a.count == b.count && a.gap == b.gap && a.tail == b.tail && a.duration == b.duration &&
           a.least == b.least && a.most == b.most && a.low == b.low && a.high == b.high && a.iterations == b.iterations &&
           std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(), equal) &&
           std::equal(a.clusters.begin(), a.clusters.end(), b.clusters.begin(), b.clusters.end(), equal);
}

} // namespace

/// Seven samples each; A is one period longer in the second, D one shorter.
TEST(TreeDifferences, AreTwoPeriodsOfFourteenInFigure7) {
    MadeUpProgram program;
    const std::uint32_t main = program.call(0, 1);
    const auto made = [&](int a, int d) {
        Trace trace;
        for (int i = 0; i < a; ++i) add_sample(trace, program.call(program.call(main, 11), 1), i == 0 ? 2 : 3);
        add_sample(trace, program.call(main, 12), 2);
        add_sample(trace, program.call(program.call(main, 13), 1), 2);
        for (int i = 0; i < d; ++i) add_sample(trace, program.call(program.call(main, 14), 1), i == 0 ? 2 : 3);
        return MadeUpTree(program, trace, LoopForm::Clusters);
    };
    const MadeUpTree one = made(2, 3), other = made(3, 2);
    EXPECT_DOUBLE_EQ(TreeDifference(one.order, 0)(one.tree.root, other.tree.root), 2 * test_period);
    EXPECT_DOUBLE_EQ(TreeDifference(one.order, 0).ratio(one.tree.root, other.tree.root), 2.0 / 14);
    EXPECT_EQ(TreeDifference(one.order, 2 * test_period)(one.tree.root, other.tree.root), 0) << "samples cannot tell";
}

/// Figure 8: the first may have begun a period earlier and ended a period later.
TEST(TreeDifferences, LeaveOutWhatSamplesCannotTell) {
    RandomTrees trees(1);
    const TreeDifference difference(trees.order, 2 * test_period);
    EXPECT_EQ(difference(node(0, 0, 5 * test_period), node(0, 0, 7 * test_period)), 0);
    EXPECT_EQ(difference(node(0, 0, 5 * test_period), node(0, 0, 8 * test_period)), test_period);
    EXPECT_EQ(difference(node(0, 0, 8 * test_period), node(0, 0, 5 * test_period)), test_period);
    EXPECT_EQ(difference.ratio(node(0, 0, 0), node(0, 0, 0)), 0);
}

TEST(TreeDifferences, AreThoseOfTheSecondImplementation) {
    std::size_t different = 0, compared = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        RandomTrees trees(seed);
        trees.rejects = false;
        const TreeDifference difference(trees.order, 2 * test_period);
        const literal::Algorithms algorithms{trees.order, test_period};
        for (int i = 0; i < 100; ++i) { // 10,000 pairs
            const TimeNode a = trees.tree(0), b = trees.tree(0);
            const double expected = algorithms.diff(literal::from(a, 0), literal::from(b, 0));
            ASSERT_NEAR(difference(a, b), expected, 1e-9 * (a.duration + b.duration)) << seed << " " << i;
            ++compared;
            different += expected > 0;
        }
    }
    EXPECT_GT(different, compared / 2);
}

TEST(TreeDifferences, CountRejectedIterationsAsProfiles) {
    std::size_t compared = 0;
    for (unsigned seed = 0; seed < 50; ++seed) {
        RandomTrees trees(seed);
        const TreeDifference difference(trees.order, 2 * test_period);
        const literal::Algorithms algorithms{trees.order, test_period};
        ContextId outer = 0;
        while (trees.contexts[outer].loop != 20) ++outer;
        for (int i = 0; i < 40; ++i) {
            TimeNode a = trees.tree(outer), b = trees.tree(outer);
            if (a.kind != b.kind) continue;
            bool mixed = false; // a loop on one side only is a profile somewhere inside
            const auto kinds = [&](const auto& self, const TimeNode& n) -> void {
                if (trees.contexts[n.context].kind == ContextKind::Loop && n.kind == TimeKind::Profile) mixed = true;
                for (const TimeNode& c : n.children) self(self, c);
                for (const TimeNode& c : n.clusters) self(self, c);
            };
            kinds(kinds, a);
            kinds(kinds, b);
            if (mixed) continue;
            ++compared;
            ASSERT_NEAR(difference(a, b), algorithms.diff(literal::from(a, 0), literal::from(b, 0)), 1e-9 * (a.duration + b.duration)) << seed << " " << i;
        }
    }
    EXPECT_GT(compared, 200u);
}

TEST(TreeClusters, AreThoseOfTheSecondImplementation) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr unsigned seeds = 100; // they are slow, and look for something else
#else
    constexpr unsigned seeds = 500; // 20 trees each: 10,000
#endif
    std::size_t several = 0, sets = 0;
    for (unsigned seed = 0; seed < seeds; ++seed) {
        RandomTrees trees(seed);
        trees.rejects = false;
        const literal::Algorithms algorithms{trees.order, test_period};
        TimeSeriesParameters parameters;
        parameters.workers = 1;
        const Clustering clustering(trees.order, test_period, parameters);
        // Few different ones, each slightly changed, so that they do fall into clusters.
        std::vector<TimeNode> kinds, instances;
        for (int i = 0; i < 4; ++i) kinds.push_back(trees.tree(0));
        for (int i = 0; i < 20; ++i) {
            instances.push_back(kinds[static_cast<std::size_t>(trees.number(4))]);
            const double more = trees.number(4000);
            instances.back().tail += more;
            set_duration(instances.back(), instances.back().duration + more);
            cluster_loops(clustering, instances.back());
        }
        std::vector<literal::Algorithms::Cluster> input;
        for (std::size_t i = 0; i < instances.size(); ++i) input.push_back({literal::from(instances[i], 0), 1, {i}});
        const auto expected = algorithms.getClusterSet(input, 0, input.size(), 5, true);
        const auto clusters = clustering(
            instances.size(), [&](std::size_t i) { return instances[i]; }, MergeOf::Threads);
        ASSERT_EQ(clusters.size(), expected.size()) << seed;
        for (std::size_t c = 0; c < clusters.size(); ++c) {
            ASSERT_TRUE(std::equal(clusters[c].members.begin(), clusters[c].members.end(), expected[c].members.begin(), expected[c].members.end())) << seed;
            ASSERT_TRUE(is_same(clusters[c].representative, expected[c].node, clusters[c].representative.duration)) << seed << " " << c;
        }
        ++sets;
        several += clusters.size() > 1;
    }
    EXPECT_GT(several, sets / 2);
}

TEST(TreeClusters, OfLoopsAreThoseOfTheSecondImplementation) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        RandomTrees trees(seed);
        trees.rejects = false;
        const literal::Algorithms algorithms{trees.order, test_period};
        const Clustering clustering(trees.order, test_period, {});
        ContextId outer = 0;
        while (trees.contexts[outer].loop != 20) ++outer;
        TimeNode loop = trees.tree(outer);
        for (int more = 0; more < 4; ++more)
            for (TimeNode& pass : trees.tree(outer).clusters) {
                loop.iterations.push_back(static_cast<std::uint32_t>(loop.clusters.size()));
                loop.clusters.push_back(std::move(pass));
            }
        for (TimeNode& pass : loop.clusters) cluster_loops(clustering, pass);
        std::vector<literal::Algorithms::Cluster> input;
        for (std::size_t k = 0; k < loop.clusters.size(); ++k) input.push_back({literal::from(loop.clusters[k], 0), 1, {k}});
        const auto expected = algorithms.getClusterSet(input, 0, input.size(), literal::Algorithms::most_clusters(input.size()), false);
        clustering.cluster_iterations(loop);
        ASSERT_EQ(loop.clusters.size(), expected.size()) << seed;
        for (std::size_t c = 0; c < expected.size(); ++c) {
            ASSERT_EQ(loop.clusters[c].count, expected[c].members.size());
            for (const std::size_t k : expected[c].members) ASSERT_EQ(loop.iterations[k], c) << seed;
            ASSERT_TRUE(is_same(loop.clusters[c], expected[c].node, loop.duration)) << seed;
        }
    }
}

TEST(TreeClusters, DoNotDependOnTheNumberOfWorkers) {
    RandomTrees trees(7);
    std::vector<TimeNode> instances;
    for (int i = 0; i < 200; ++i) instances.push_back(trees.tree(0));
    std::vector<TimeCluster> first;
    for (const std::uint32_t workers : {1, 2, 3, 8}) {
        TimeSeriesParameters parameters;
        parameters.workers = workers;
        const Clustering clustering(trees.order, test_period, parameters);
        std::vector<TimeCluster> clusters = clustering(
            instances.size(),
            [&](std::size_t i) {
                TimeNode instance = instances[i];
                cluster_loops(clustering, instance);
                return instance;
            },
            MergeOf::Threads);
        if (first.empty())
            first = std::move(clusters);
        else {
            ASSERT_EQ(clusters.size(), first.size());
            for (std::size_t c = 0; c < clusters.size(); ++c) {
                EXPECT_EQ(clusters[c].members, first[c].members);
                EXPECT_TRUE(equal(clusters[c].representative, first[c].representative));
            }
        }
    }
    EXPECT_LE(first.size(), 8u);
    EXPECT_GT(first.size(), 1u);
}

TEST(TreeClusters, LikeIterationsAreOneAndUnlikeOnesAreNot) {
    RandomTrees trees(1);
    ContextId loop_context = 0;
    while (trees.contexts[loop_context].loop != 20) ++loop_context;
    TimeNode loop;
    loop.context = loop_context;
    loop.kind = TimeKind::Loop;
    double duration = 0;
    for (std::uint32_t k = 0; k < 100; ++k) {
        TimeNode pass = node(loop_context, 0, (k % 10 == 3 ? 90 : 30 + k % 2) * test_period); // every tenth is long
        pass.kind = TimeKind::Iteration;
        duration += pass.duration;
        loop.iterations.push_back(k);
        loop.clusters.push_back(std::move(pass));
    }
    set_duration(loop, duration);
    Clustering(trees.order, test_period, {}).cluster_iterations(loop);
    ASSERT_EQ(loop.clusters.size(), 2u);
    EXPECT_EQ(loop.clusters[0].count, 90u);
    EXPECT_EQ(loop.clusters[1].count, 10u);
    EXPECT_EQ(loop.clusters[0].least, 30 * test_period);
    EXPECT_EQ(loop.clusters[0].most, 31 * test_period);
    for (std::uint32_t k = 0; k < 100; ++k) EXPECT_EQ(loop.iterations[k], k % 10 == 3 ? 1u : 0u);
    EXPECT_NEAR(loop.clusters[0].count * loop.clusters[0].duration + loop.clusters[1].count * loop.clusters[1].duration, duration, 1e-6 * duration);
}

TEST(TreeClusters, TheirMeanKeepsTheTimeOfAllThreads) {
    RandomTrees trees(3);
    const Clustering clustering(trees.order, test_period, {});
    double sum = 0, most = 0, least = 1e18;
    std::vector<TimeNode> instances;
    for (int i = 0; i < 50; ++i) {
        instances.push_back(trees.tree(0));
        cluster_loops(clustering, instances.back());
        sum += instances.back().duration;
        most = std::max(most, instances.back().duration);
        least = std::min(least, instances.back().duration);
    }
    const TimeNode mean = clustering.mean_of(clustering(
        instances.size(), [&](std::size_t i) { return instances[i]; }, MergeOf::Threads));
    EXPECT_NEAR(mean.duration, sum / 50, 1e-9 * sum);
    EXPECT_EQ(mean.low, least);
    EXPECT_EQ(mean.high, most);
    const auto check = [](const auto& self, const TimeNode& n) -> void {
        double parts = own_time(n);
        for (const TimeNode& c : n.children) parts += c.duration;
        for (const TimeNode& c : n.clusters) parts += c.count * c.duration;
        EXPECT_NEAR(parts, n.duration, 1e-6 * n.duration + 1e-6);
        EXPECT_LE(n.least, n.duration * (1 + 1e-9));
        EXPECT_GE(n.most * (1 + 1e-9), n.duration);
        for (const TimeNode& c : n.children) self(self, c);
        for (const TimeNode& c : n.clusters) self(self, c);
    };
    check(check, mean);
}
