#include "tools/analysis/sampling_error.hpp"

#include <gtest/gtest.h>
#include <random>

namespace libprofile::tools {

/// Of samples at random, for parts from a hundredth to a half and from few samples to many.
TEST(SamplingError, IntervalsHoldTheTruthIn95Of100Cases) {
    std::mt19937_64 random(11);
    std::size_t covered = 0, cases = 0;
    for (const int samples : {20, 100, 1000})
        for (const double truth : {0.01, 0.05, 0.2, 0.5})
            for (int round = 0; round < 2000; ++round, ++cases) {
                const int hits = std::binomial_distribution<int>(samples, truth)(random);
                const double part = 1e9 * hits / samples;
                covered += std::abs(part - 1e9 * truth) <= sampling_error(part, 1e9, samples) ? 1 : 0;
            }
    EXPECT_NEAR(static_cast<double>(covered) / static_cast<double>(cases), 0.96, 0.02);
}

TEST(SamplingError, TheWholeIsExactAndWithoutSamplesNothingIsKnown) {
    EXPECT_EQ(sampling_error(1000, 1000, 7), 0);
    EXPECT_EQ(sampling_error(10, 1000, 0), 1000);
    EXPECT_GT(sampling_error(0, 1000, 100), 0); // what no sample hit may have some
    EXPECT_LT(sampling_error(500, 1000, 1000), sampling_error(500, 1000, 100));
}

} // namespace libprofile::tools
