// The axis of two aligned runs as the page draws it.
#include "tools/view/aligned_axis.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <tuple>

namespace libprofile::tools {
namespace {

/// Points of one place: "=" a pair, "<" an iteration of the first run alone, ">" one of the second.
std::string drawn(const AlignedAxis& axis) {
    std::string text;
    for (const AxisPoint& point : axis.points) text += point.pairs != 0 ? '=' : point.alone_before != 0 ? '<' : '>';
    return text;
}

TEST(AlignedAxis, IterationsWithoutAPartnerStandBetweenThePairsAroundThem) {
    const std::vector<AlignedPair> pairs = {{1, 0, 5, 6}, {2, 3, 5, 4}, {4, 4, 5, 5}};
    const AlignedAxis axis = aligned_axis(pairs, {0, 6}, {0, 7}, 100);
    EXPECT_EQ(drawn(axis), "<=>>=<=<>>");
    EXPECT_EQ(axis.window, 1u);
    EXPECT_EQ(axis.place_of_pair, (std::vector<std::uint64_t>{1, 4, 6}));
    EXPECT_EQ(axis.points[1].ns_after, 6);
    EXPECT_EQ(axis.points[4].least_difference, -1);
}

TEST(AlignedAxis, APartOfTheRunsBeginsWithItsFirstIterations) {
    EXPECT_EQ(drawn(aligned_axis({{10, 20, 1, 1}, {12, 21, 1, 1}}, {9, 13}, {20, 22}, 100)), "<=<=");
    EXPECT_EQ(drawn(aligned_axis({}, {0, 1}, {0, 2}, 100)), "<>>");
}

TEST(AlignedAxis, PointsOfManyPlacesHaveTheirSumsAndExtremes) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> time(1e6, 2e6);
    std::vector<AlignedPair> pairs;
    IterationSpan before, after;
    for (std::size_t i = 0; i < 10'000; ++i) {
        before.end += random() % 20 == 0;
        after.end += random() % 30 == 0;
        pairs.push_back({before.end++, after.end++, time(random), time(random)});
    }
    const AlignedAxis fine = aligned_axis(pairs, before, after, 1'000'000), coarse = aligned_axis(pairs, before, after, 4096);
    EXPECT_EQ(fine.points.size(), before.size() + after.size() - pairs.size());
    EXPECT_EQ(coarse.window, 3u);
    EXPECT_LE(coarse.points.size(), 4096u);
    EXPECT_EQ(coarse.place_of_pair, fine.place_of_pair);
    for (std::size_t p = 0; p < coarse.points.size(); ++p) {
        AxisPoint sum;
        double least = 1e9, most = -1e9;
        for (std::size_t place = p * 3; place < std::min<std::size_t>(p * 3 + 3, fine.points.size()); ++place) {
            const AxisPoint& one = fine.points[place];
            sum.pairs += one.pairs;
            sum.alone_before += one.alone_before;
            sum.alone_after += one.alone_after;
            sum.ns_before += one.ns_before;
            sum.ns_after += one.ns_after;
            if (one.pairs == 0) continue;
            least = std::min(least, one.ns_after - one.ns_before);
            most = std::max(most, one.ns_after - one.ns_before);
        }
        const AxisPoint& point = coarse.points[p];
        ASSERT_EQ(std::tie(point.pairs, point.alone_before, point.alone_after), std::tie(sum.pairs, sum.alone_before, sum.alone_after)) << p;
        ASSERT_DOUBLE_EQ(point.ns_before, sum.ns_before);
        ASSERT_DOUBLE_EQ(point.ns_after, sum.ns_after);
        if (point.pairs == 0) continue;
        ASSERT_EQ(point.least_difference, least);
        ASSERT_EQ(point.most_difference, most);
    }
}

} // namespace
} // namespace libprofile::tools
