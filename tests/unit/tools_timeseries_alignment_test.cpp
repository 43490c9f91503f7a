// Which iterations of two loops are paired if samples missed some.
#include "tests/unit/tools_timeseries_program.hpp"
#include "tools/timeseries/alignment.hpp"
#include "tools/timeseries/clustering.hpp"

#include <gtest/gtest.h>

using namespace libprofile::test;

namespace {

constexpr std::uint32_t none = rejected_iteration;

/// A loop whose iterations call one function each, for so long.
TimeNode loop_of(const std::vector<std::pair<ContextId, double>>& calls) {
    TimeNode loop;
    loop.context = 1;
    loop.kind = TimeKind::Loop;
    double all = 0;
    for (const auto& [context, duration] : calls) {
        TimeNode pass, call;
        pass.context = 1;
        pass.kind = TimeKind::Iteration;
        call.context = context;
        set_duration(call, duration);
        call.tail = duration;
        set_duration(pass, duration);
        pass.children.push_back(std::move(call));
        loop.iterations.push_back(static_cast<std::uint32_t>(loop.clusters.size()));
        loop.clusters.push_back(std::move(pass));
        all += duration;
    }
    set_duration(loop, all);
    return loop;
}

using Clusters = std::vector<std::uint32_t>;

} // namespace

TEST(Alignment, OfALoopThatMissedAnIterationPairsAllOthers) {
    const TimeNode whole = loop_of({{2, 10}, {3, 6}, {4, 500}, {3, 6}, {5, 20}}), part = loop_of({{2, 10}, {4, 500}, {3, 7}, {5, 20}});
    const AlignedIterations pairs = aligned(whole, part), turned = aligned(part, whole);
    EXPECT_EQ(pairs.a, (Clusters{0, 1, 2, 3, 4}));
    EXPECT_EQ(pairs.b, (Clusters{0, none, 1, 2, 3}));
    EXPECT_EQ(turned.a, pairs.b);
    EXPECT_EQ(turned.b, pairs.a);
}

TEST(Alignment, WithALoopWithoutIterationsPairsNothing) {
    const AlignedIterations pairs = aligned(loop_of({{2, 10}, {3, 6}}), loop_of({}));
    EXPECT_EQ(pairs.a, (Clusters{0, 1}));
    EXPECT_EQ(pairs.b, (Clusters{none, none}));
}

TEST(Alignment, KeepsRejectedIterationsApart) {
    TimeNode a = loop_of({{2, 10}, {3, 6}, {4, 500}}), b = loop_of({{2, 10}, {4, 500}});
    b.iterations = {0, none, none, 1};
    const AlignedIterations pairs = aligned(a, b);
    ASSERT_EQ(pairs.a.size(), pairs.b.size());
    for (std::size_t k = 0; k < pairs.a.size(); ++k)
        if (pairs.b[k] != none) {
            EXPECT_EQ(pairs.a[k], pairs.b[k] == 0 ? 0u : 2u);
        }
    EXPECT_EQ(std::count(pairs.b.begin(), pairs.b.end(), none), static_cast<std::ptrdiff_t>(pairs.b.size()) - 2);
}

TEST(Alignment, OfManyIterationsFindsWhichWereMissed) {
    std::vector<std::pair<ContextId, double>> calls, most;
    for (std::uint32_t i = 0; i < 3000; ++i) {
        calls.emplace_back(2 + i % 7, 10 + i % 3);
        if (i % 300 != 7) most.push_back(calls.back());
    }
    const AlignedIterations pairs = aligned(loop_of(calls), loop_of(most));
    ASSERT_EQ(pairs.a.size(), 3000u);
    for (std::uint32_t i = 0; i < 3000; ++i) ASSERT_EQ(pairs.b[i] == none, i % 300 == 7) << i;
}

TEST(Alignment, OfEquallyManyPairsLikeOnes) {
    const AlignedIterations pairs = aligned(loop_of({{2, 10}, {3, 6}, {4, 500}}), loop_of({{3, 6}, {4, 500}, {5, 20}}));
    EXPECT_EQ(pairs.a, (Clusters{0, 1, 2, none}));
    EXPECT_EQ(pairs.b, (Clusters{none, 0, 1, 2}));
}

TEST(Alignment, DoesNotHideTimeThatMovesBetweenRanks) {
    const AlignedIterations pairs = aligned(loop_of({{2, 10}, {2, 50}, {2, 10}, {2, 50}}), loop_of({{2, 50}, {2, 10}, {2, 50}, {2, 10}}));
    EXPECT_EQ(pairs.a, (Clusters{0, 1, 2, 3}));
    EXPECT_EQ(pairs.b, (Clusters{0, 1, 2, 3}));
}

TEST(Alignment, ShowsNoImbalanceWhereOnlyAShortIterationWasMissed) {
    MadeUpProgram program;
    const std::uint32_t main = program.call(0, 1);
    program.loops.loops = {{10, 20}};
    std::vector<std::uint32_t> paths; // all before the contexts, which know those that are there
    for (const std::uint64_t line : {11, 12, 13}) paths.push_back(program.call(main, line));
    Contexts contexts{program.profile, &program.loops};
    for (const std::uint32_t path : paths) contexts.of_sample(path);
    const FlowOrder order(contexts, &program.loops);
    const TimeNode whole = loop_of({{2, 10}, {3, 6}, {4, 500}, {3, 6}, {4, 400}}), part = loop_of({{2, 10}, {4, 500}, {3, 6}, {4, 400}});
    EXPECT_DOUBLE_EQ(TreeDifference(order, 0)(whole, part), 6);
    EXPECT_DOUBLE_EQ(TreeDifference(order, 0)(part, whole), 6);
}
