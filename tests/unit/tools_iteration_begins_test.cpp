// Where iterations lie in a picture: those of a loop inside another below the ones that they belong to.
#include "tools/export/iteration_begins.hpp"

#include <gtest/gtest.h>

using namespace libprofile::tools;

namespace {

using Times = std::vector<std::uint64_t>;

PhaseData phase(std::uint32_t number, Times times) {
    PhaseData data;
    data.phase = number;
    data.iteration_ns = std::move(times);
    return data;
}

} // namespace

TEST(IterationBegins, AreEndToEndWhereNothingElseIsKnown) {
    Location location;
    location.phases = {phase(7, {10, 20, 5})};
    EXPECT_EQ(iteration_begins(location), (std::vector<Times>{{0, 10, 30}}));
}

TEST(IterationBegins, OfALoopInsideAnotherLieInTheIterationsOfThat) {
    Location location;
    location.phases = {phase(2, {3, 3, 4, 1}), phase(5, {10, 20, 5})}; // the inner one comes first
    location.phases[1].inside = InsideData{3, {{0, 2, 2, 0, 0}, {2, 2, 1, 2, 0}}};
    EXPECT_EQ(iteration_begins(location), (std::vector<Times>{{0, 3, 30, 34}, {0, 10, 30}}));
}

TEST(IterationBegins, WhatLiesInSomeIterationsIsChosenWithThem) {
    Location location;
    location.phases = {phase(1, {5, 5, 5, 5, 5}), phase(2, {10, 10, 10}), phase(3, {25, 25})};
    location.phases[1].inside = InsideData{3, {{0, 1, 2, 0, 0}, {1, 1, 1, 2, 0}, {2, 1, 9, 4, 0}}};
    location.phases[2].inside = InsideData{2, {{0, 2, 2, 0, 0}, {1, 2, 1, 2, 0}}};
    const auto of = [&](std::uint32_t phase, IterationRange range) {
        std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> all;
        for (const auto& parts : iterations_within(location, phase, range)) {
            all.emplace_back();
            for (const IterationRange& part : parts) all.back().emplace_back(part.first, part.last);
        }
        return all;
    };
    using Parts = std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>>;
    EXPECT_EQ(of(3, {1, 1}), (Parts{{{4, 4}}, {{2, 2}}, {{1, 1}}}));
    EXPECT_EQ(of(3, {}), (Parts{{{0, 1}, {2, 2}, {4, 4}}, {{0, 1}, {2, 2}}, {{0, 1}}}));
    EXPECT_EQ(of(2, {1, 7}), (Parts{{{2, 2}, {4, 4}}, {{1, 2}}, {}}));
    EXPECT_EQ(of(3, {2, 5}), (Parts{{}, {}, {}}));
    EXPECT_EQ(of(9, {}), (Parts{{}, {}, {}}));
}

TEST(IterationBegins, OfThreeLevelsAndOfFilesThatMakeNoSenseDoNotOverlap) {
    Location location;
    location.phases = {phase(1, {5, 5, 5, 5}), phase(2, {10, 10}), phase(3, {25})};
    location.phases[1].inside = InsideData{2, {{0, 1, 2, 0, 0}, {1, 1, 2, 2, 0}, {9, 1, 1, 0, 0}, {1, 1, ~0ull, 3, 0}, {1, 8, 1, 0, 0}}};
    location.phases[2].inside = InsideData{1, {{0, 4, 1, 0, 100}, {0, 2, 2, 0, 0}, {0, 3, 1, 0, 0}}};
    location.phases[0].inside = InsideData{1, {{0, 3, 1, 0, 0}}}; // in a circle
    const std::vector<Times> begins = iteration_begins(location);
    for (std::size_t p = 0; p < begins.size(); ++p)
        for (std::size_t i = 1; i < begins[p].size(); ++i) EXPECT_GE(begins[p][i], begins[p][i - 1] + location.phases[p].iteration_ns[i - 1]);
}

TEST(IterationBegins, AreThoseOfTheProfileIfItHasAll) {
    Location location;
    location.phases = {phase(7, {10, 20, 5}), phase(8, {1})};
    location.phases[0].iteration_begin_ns = {100, 115, 200};
    location.phases[1].iteration_begin_ns = {150};
    EXPECT_EQ(iteration_begins(location), (std::vector<Times>{{100, 115, 200}, {150}}));
    location.phases[1].iteration_begin_ns.clear();
    EXPECT_FALSE(are_begins_known(location));
    EXPECT_EQ(iteration_begins(location), (std::vector<Times>{{0, 10, 30}, {0}}));
}
