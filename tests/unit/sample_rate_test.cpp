#include "libprofile/thread/sample_rate.hpp"

#include <gtest/gtest.h>

namespace libprofile {
namespace {

/// The sum of the costs and of the intervals of samples that cost `cost` ns each, until `until` ns of the clock.
struct Spent {
    std::uint64_t cost = 0, time = 0, samples = 0;
};
Spent run(SampleRate& rate, std::uint64_t cost, std::uint64_t until) {
    Spent all;
    while (all.time < until) {
        all.time += rate.interval();
        all.cost += cost;
        ++all.samples;
        rate.learn(cost);
        rate.next();
    }
    return all;
}

TEST(SampleRate, FixedIntervalsAreAllThePeriod) {
    SampleRate rate;
    rate.fix(5000000);
    for (int i = 0; i < 100; ++i) {
        rate.learn(900000);
        EXPECT_EQ(rate.next(), 5000000u);
    }
}

TEST(SampleRate, CheapSamplesAreTakenAThousandTimesASecond) {
    SampleRate rate;
    rate.adapt(700, 1);
    const Spent all = run(rate, 700, 10000000000u);
    EXPECT_NEAR(static_cast<double>(all.samples), 10000, 200);
}

TEST(SampleRate, TheCostIsAtMostTheShareAndTheCredit) {
    for (const std::uint64_t cost : {3000, 5000, 10000, 40000, 200000})
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            SampleRate rate;
            rate.adapt(cost, seed);
            for (const std::uint64_t seconds : {1, 2, 10, 60}) {
                SampleRate each = rate;
                const Spent all = run(each, cost, seconds * 1000000000u);
                const double share = static_cast<double>(all.time) / SampleRate::samples_of_share;
                EXPECT_LE(static_cast<double>(all.cost), share + static_cast<double>(SampleRate::first_credit + 3 * cost))
                    << cost << " ns, " << seconds << " s";
                EXPECT_GE(static_cast<double>(all.cost), 0.97 * share) << cost << " ns, " << seconds << " s: fewer than allowed";
            }
        }
}

TEST(SampleRate, FollowsACostThatChanges) {
    SampleRate rate;
    rate.adapt(5000, 3);
    run(rate, 5000, 20000000000u);
    run(rate, 30000, 2000000000u); // learns
    const Spent dear = run(rate, 30000, 20000000000u);
    EXPECT_NEAR(static_cast<double>(dear.cost) / static_cast<double>(dear.time), 1.0 / SampleRate::samples_of_share, 0.000025);
    run(rate, 5000, 2000000000u);
    const Spent cheap = run(rate, 5000, 20000000000u);
    EXPECT_NEAR(static_cast<double>(cheap.cost) / static_cast<double>(cheap.time), 1.0 / SampleRate::samples_of_share, 0.000025);
}

TEST(SampleRate, AutomaticIntervalsKeepTheirMeanAndSpreadEvenly) {
    SampleRate rate;
    rate.adapt(1000, 11);
    std::uint64_t quarters[4] = {};
    double sum = 0;
    constexpr int draws = 40000;
    for (int i = 0; i < draws; ++i) {
        const std::uint64_t interval = rate.next();
        ASSERT_GE(interval, 500000u);
        ASSERT_LE(interval, 1500000u);
        ++quarters[std::min<std::uint64_t>(3, (interval - 500000) / 250000)];
        sum += static_cast<double>(interval);
    }
    EXPECT_NEAR(sum / draws, 1e6, 1e4);
    for (const std::uint64_t n : quarters) EXPECT_NEAR(static_cast<double>(n), draws / 4, 400);
}

TEST(SampleRate, DoesNotKeepStepWithAProgramThatRepeatsItself) {
    SampleRate rate;
    rate.adapt(1000, 5);
    std::uint64_t time = 0, hits = 0;
    constexpr int samples = 20000;
    for (int i = 0; i < samples; ++i) {
        time += rate.next();
        hits += time % 1000000 < 300000 ? 1 : 0; // 30 % of a period of 1 ms, the mean interval
    }
    EXPECT_NEAR(static_cast<double>(hits) / samples, 0.3, 0.02);
}

TEST(SampleRate, AClockThatKeepsLongerIntervalsOnlyLimitsThem) {
    SampleRate rate;
    rate.adapt(1000, 5);
    rate.limit(8000000);
    EXPECT_EQ(rate.mean(), 8000000u);
    rate.learn(60000);
    rate.next();
    EXPECT_EQ(rate.mean(), 8000000u); // still within the credit
}

TEST(SampleRate, SamplesThatCostAlmostNothingOrAlmostAllStayWithinBounds) {
    SampleRate rate;
    rate.adapt(0, 0);
    run(rate, 0, 1000000000u);
    EXPECT_EQ(rate.mean(), SampleRate::shortest_automatic);
    for (int i = 0; i < 1000; ++i) {
        rate.learn(UINT64_MAX);
        rate.next();
    }
    EXPECT_EQ(rate.mean(), SampleRate::longest_automatic);
}

} // namespace
} // namespace libprofile
