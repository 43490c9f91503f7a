#include "tools/diagnosis/stretches.hpp"

#include <gtest/gtest.h>
#include <vector>

using namespace libprofile::tools;

namespace {

std::vector<std::uint64_t> numbers(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> result;
    for (std::uint64_t i = begin; i != end; ++i) result.push_back(i);
    return result;
}

void expect_stretch(const Stretch& found, std::uint64_t begin, std::uint64_t end) {
    EXPECT_EQ(found.begin, begin);
    EXPECT_EQ(found.end, end);
}

} // namespace

TEST(Stretches, IterationsThatAnotherDisturbanceHitDoNotEndOne) {
    std::vector<std::uint64_t> iterations = numbers(800, 1200);
    iterations.erase(iterations.begin() + 300); // 1100
    iterations.erase(iterations.begin() + 40);  // 840
    iterations.insert(iterations.begin(), 7);
    const Stretch own = longest_stretch(iterations);
    expect_stretch(own, 800, 1200);
    expect_stretch(stretch_beside(own, iterations, {0, 2000}), 1200, 1600);
    expect_stretch(stretch_beside(own, iterations, {0, 1300}), 400, 800);
}

TEST(Stretches, SingleIterationsAreComparedWithOneBesideThem) {
    const std::vector<std::uint64_t> iterations = {49, 99, 149};
    const Stretch own = longest_stretch(iterations);
    expect_stretch(own, 49, 50);
    expect_stretch(stretch_beside(own, iterations, {0, 150}), 50, 51);
    expect_stretch(stretch_beside({149, 150}, iterations, {0, 150}), 148, 149);
}

TEST(Stretches, ThereIsNothingBesideACauseOfAllIterations) {
    const std::vector<std::uint64_t> iterations = numbers(10, 30);
    expect_stretch(longest_stretch(iterations), 10, 30);
    EXPECT_EQ(stretch_beside({10, 30}, iterations, {10, 30}).length(), 0u);
}

TEST(Stretches, OthersBesideHaveFewOfTheCause) {
    std::vector<std::uint64_t> iterations = numbers(100, 200);
    for (std::uint64_t i = 205; i < 300; i += 2) iterations.push_back(i); // every second one
    const Stretch own = longest_stretch(iterations);
    EXPECT_EQ(own.begin, 100u);
    EXPECT_LE(own.end, 222u);
    expect_stretch(stretch_beside(own, iterations, {0, 1000}), 0, 100);
}
