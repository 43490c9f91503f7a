// A slow processor and more work in one function are told apart by samples as far as there are enough.
#include "tools/diagnosis/one_factor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace libprofile::tools {
namespace {

/// Functions with these shares, `more` longer altogether: all of them, or one of them only.
std::vector<ComparedFunction> functions(const std::vector<double>& shares, double more, int only, double samples) {
    std::vector<ComparedFunction> list;
    for (std::size_t f = 0; f < shares.size(); ++f) {
        const double there = 1e6 * shares[f], added = only < 0 ? more * there : only == static_cast<int>(f) ? more * 1e6 : 0;
        list.push_back({there + added, there, 1e6 * std::sqrt(2 * shares[f] / samples)});
    }
    return list;
}

TEST(OneFactor, AllFunctionsLongerIsLikelierOneFactor) {
    EXPECT_GT(odds_of_one_factor(functions({0.2, 0.5, 0.25, 0.05}, 0.02, -1, 20000)), 3);
    EXPECT_GT(odds_of_one_factor(functions({0.2, 0.5, 0.3}, 0.2, -1, 800)), 20);
}

TEST(OneFactor, OneFunctionLongerIsNoFactor) {
    for (int f = 0; f < 4; ++f) {
        EXPECT_LT(odds_of_one_factor(functions({0.2, 0.5, 0.25, 0.05}, 0.05, f, 20000)), 0.1) << f;
    }
}

TEST(OneFactor, NothingIsSaidWithoutSamplesEnough) {
    EXPECT_NEAR(odds_of_one_factor(functions({0.2, 0.5, 0.3}, 0.02, -1, 20)), 1, 0.1);
    EXPECT_EQ(odds_of_one_factor(functions({1}, 0.2, -1, 20000)), 1);
    EXPECT_EQ(odds_of_one_factor({}), 1);
    EXPECT_NEAR(odds_of_one_factor(functions({0.999, 0.001}, 0.02, -1, 20000)), 1, 0.2);
}

TEST(OneFactor, RanksThatAreNotLongerHaveNone) {
    EXPECT_EQ(odds_of_one_factor(functions({0.5, 0.5}, 0, -1, 20000)), 0);
    EXPECT_EQ(odds_of_one_factor(functions({0.5, 0.5}, -0.1, -1, 20000)), 0);
}

} // namespace
} // namespace libprofile::tools
