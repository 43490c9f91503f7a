// Whether iterations get longer or shorter is said if they do, and not if chance or their kinds make the first tenth differ from the last.
#include "tools/analysis/trend.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

using namespace libprofile::tools;

namespace {

/// Of `series` random series of n iterations, the share in which a trend is seen.
double seen(int series, std::size_t n, const std::function<double(std::size_t i, std::mt19937& random)>& time) {
    int found = 0;
    for (int seed = 1; seed <= series; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        std::vector<double> times;
        for (std::size_t i = 0; i < n; ++i) times.push_back(time(i, random));
        found += trend_of(std::move(times)).changes ? 1 : 0;
    }
    return found / static_cast<double>(series);
}

double noise(std::mt19937& random, double deviation) { return std::exp(std::normal_distribution<double>(0, deviation)(random)); }

} // namespace

TEST(Trend, NoiseIsNone) {
    for (const std::size_t n : {20u, 50u, 300u})
        for (const double deviation : {0.03, 0.3})
            EXPECT_LE(seen(2000, n, [&](std::size_t, std::mt19937& random) { return 1e6 * noise(random, deviation); }), 0.02) << n << ", " << deviation;
}

TEST(Trend, KindsThatComeInTurnsAreNone) {
    // The levels of a multigrid cycle, down and up again: the median is the time of one of them, and may be that of the next as well.
    const double levels[] = {16e6, 8e6, 3e6, 2.5e6, 1.03e6, 0.6e6, 0.4e6};
    const auto cycle = [&](std::size_t i, std::mt19937& random) {
        const std::size_t at = i % 12;
        return levels[at < 7 ? at : 12 - at] * noise(random, 0.02);
    };
    for (const std::size_t n : {500u, 1040u, 8640u}) EXPECT_LE(seen(200, n, cycle), 0.02) << n;
    const auto either = [](std::size_t, std::mt19937& random) { return (random() % 2 == 0 ? 1e6 : 3e6) * noise(random, 0.02); };
    for (const std::size_t n : {100u, 1000u}) EXPECT_LE(seen(1000, n, either), 0.02) << n;
}

TEST(Trend, GrowthIsOne) {
    for (const std::size_t n : {20u, 50u, 300u}) {
        const auto grows = [&](double by) {
            return
                [n, by](std::size_t i, std::mt19937& random) { return 1e6 * (1 + by * static_cast<double>(i) / static_cast<double>(n)) * noise(random, 0.02); };
        };
        EXPECT_GE(seen(500, n, grows(0.3)), 0.99) << n;
        EXPECT_GE(seen(500, n, grows(-0.3)), 0.99) << n;
    }
}

TEST(Trend, OneSlowIterationAtTheBeginningDoesNotHideIt) {
    for (const int n : {20, 30, 59, 90, 200}) {
        std::vector<double> times;
        for (int i = 0; i < n; ++i) times.push_back(1e6 * (1 + 4.0 * i / n));
        times[0] = 1e9;
        const Trend trend = trend_of(times);
        EXPECT_TRUE(trend.changes) << n;
        EXPECT_GT(trend.change(), 0.5) << n;
        EXPECT_EQ(trend.slow.front(), 0u);
    }
}

TEST(Trend, WhatComesAndGoesIsNone) {
    for (const std::size_t n : {300u, 1000u}) {
        for (const double rho : {0.5, 0.9}) {
            double state = 0;
            EXPECT_LE(seen(1000, n,
                           [&](std::size_t, std::mt19937& random) {
                               state = rho * state + std::normal_distribution<double>(0, 0.1 * std::sqrt(1 - rho * rho))(random);
                               return 1e6 * std::exp(state);
                           }),
                      0.06)
                << n << ", " << rho;
        }
    }
    for (const std::size_t n : {500u, 590u, 1000u, 1040u}) {
        std::vector<double> teeth;
        for (std::size_t i = 0; i < n; ++i) teeth.push_back(1e6 * (1 + static_cast<double>(i % 100) / 100));
        EXPECT_FALSE(trend_of(teeth).changes) << n;
    }
}

TEST(Trend, ItsTimesAndTheTestAgreeOnTheDirection) {
    std::vector<double> times;
    for (int i = 0; i < 600; ++i) times.push_back(i < 60 ? (i % 8 < 5 ? 1e6 : 100e6) : 2e6);
    EXPECT_FALSE(trend_of(times).changes);
}

TEST(Trend, AStepIsOne) {
    for (const int at : {55, 300, 545}) { // where most of the last tenth, or of the first, is on one side
        std::vector<double> times;
        for (int i = 0; i < 600; ++i) times.push_back(i < at ? 1e6 : 1.5e6);
        EXPECT_TRUE(trend_of(times).changes) << at;
    }
}

TEST(Trend, IterationsThatRanksDoNotShareAreNotCompared) {
    // Rank 1 found the loop later: its iterations of equal number are others, and there is none for the last ones of rank 0.
    Profile profile;
    profile.phases.push_back({"step", PhaseKind::Iterations});
    for (const std::uint32_t rank : {0u, 1u}) {
        Location location;
        location.rank = rank;
        PhaseData data;
        for (std::size_t i = rank == 0 ? 0 : 203; i < 1000; ++i) data.iteration_ns.push_back(i % 5 == 0 ? 16'000'000 : 1'000'000 + i % 2);
        location.phases.push_back(std::move(data));
        profile.locations.push_back(std::move(location));
    }
    const auto found = [&] { return trends(profile, {&profile.locations[0], &profile.locations[1]}).at(0); };
    EXPECT_EQ(found().rank, 0u);
    EXPECT_EQ(found().iterations, 1000u);
    EXPECT_FALSE(found().changes);
    profile.locations[1].phases[0].iteration_ns.resize(500, 1'000'000);
    profile.locations[0].phases[0].iteration_ns.resize(501, 1'000'000); // that was killed one iteration earlier
    EXPECT_FALSE(found().rank.has_value());
}

TEST(Trend, EqualIterationsHaveNone) {
    const Trend trend = trend_of(std::vector<double>(100, 5e6));
    EXPECT_FALSE(trend.changes);
    EXPECT_EQ(trend.early, 5e6);
    EXPECT_EQ(trend.late, 5e6);
    EXPECT_FALSE(trend_of({0, 0, 0}).changes);
}
