// What is told to be more than jitter, in values of known distributions with and without something else among them.
#include "tools/diagnosis/jitter_tail.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace libprofile::test {
namespace {

class JitterTail : public testing::Test {
  protected:
    static constexpr std::size_t iterations = 600;

    /// Values of the distribution, and `hits` of them higher by `more`.
    template <class Distribution> void make(std::size_t ranks, Distribution distribution, std::size_t hits = 0, double more = 0) {
        std::mt19937_64 random(ranks + 17 * hits + seed_);
        ranks_ = ranks;
        values_.resize(ranks * iterations);
        is_hit_.assign(values_.size(), false);
        for (float& value : values_) value = static_cast<float>(1e6 * distribution(random));
        for (std::size_t k = 0; k < hits; ++k) {
            const std::size_t at = random() % values_.size();
            values_[at] += is_hit_[at] ? 0 : static_cast<float>(1e6 * more);
            is_hit_[at] = true;
        }
    }
    void look() {
        const auto borders = tools::highest_by_jitter(ranks_, iterations, [&](std::size_t r, std::size_t i) { return values_[r * iterations + i]; });
        told = right = 0;
        for (std::size_t at = 0; at < values_.size(); ++at) {
            if (values_[at] < borders[at / iterations]) continue;
            ++told;
            right += is_hit_[at] ? 1 : 0;
        }
    }

    std::size_t told = 0, right = 0;
    std::uint64_t seed_ = 0;
    std::vector<float> values_;

  private:
    std::size_t ranks_ = 0;
    std::vector<bool> is_hit_;
};

TEST_F(JitterTail, ValuesOfATailAreJitterHoweverHeavyItIs) {
    std::size_t runs = 0, runs_with_some = 0;
    for (const std::size_t ranks : {4, 32, 400})
        for (seed_ = 1; seed_ <= 5; ++seed_) {
            const auto count = [&] {
                look();
                ++runs;
                runs_with_some += told == 0 ? 0 : 1;
                EXPECT_LE(told, ranks * iterations / 1000);
            };
            make(ranks, std::normal_distribution<double>(0, 1));
            count();
            make(ranks, std::exponential_distribution<double>(1));
            count();
            make(ranks, std::student_t_distribution<double>(3));
            count();
            make(ranks, std::student_t_distribution<double>(2));
            count();
            make(ranks, std::lognormal_distribution<double>(0, 0.75));
            count();
        }
    EXPECT_LE(runs_with_some * 5, runs); // each of them by a value or two
}

TEST_F(JitterTail, FewHighValuesBesideALightTailAreNoJitter) {
    for (const std::size_t ranks : {2, 32, 400})
        for (seed_ = 1; seed_ <= 5; ++seed_) {
            make(ranks, std::normal_distribution<double>(0, 1), 25, 20);
            look();
            EXPECT_GE(right, 24u) << ranks << " ranks";
            EXPECT_LE(told, right + 3) << ranks << " ranks";
        }
}

TEST_F(JitterTail, HighValuesBesideAHeavyTailAreToldIfTheyAreHigherThanIt) {
    std::size_t all = 0, of_hits = 0;
    for (seed_ = 1; seed_ <= 5; ++seed_) {
        make(32, std::student_t_distribution<double>(3), 25, 100); // of 19,200 values, less than one is above 100
        look();
        all += told;
        of_hits += right;
    }
    EXPECT_GE(of_hits, 5u * 24);
    EXPECT_LE(all, of_hits + 15);
}

/// With index 2.5 one of 1,200 values is some 17 above the least one, and 25 of them are as much higher as three times that.
TEST_F(JitterTail, AFewOfTheValuesOfTwoRanksDoNotHideThemselvesBesideAHeavyTail) {
    std::size_t all = 0, of_hits = 0;
    for (seed_ = 1; seed_ <= 10; ++seed_) {
        std::uniform_real_distribution<double> uniform(0, 1);
        make(
            2, [&](std::mt19937_64& random) { return std::pow(1 - uniform(random), -0.4); }, 25, 50);
        look();
        all += told;
        of_hits += right;
    }
    EXPECT_GE(of_hits, 9u * 24);
    EXPECT_LE(all * 3, of_hits * 4);
}

TEST_F(JitterTail, EqualValuesAreJitter) {
    make(8, [](std::mt19937_64&) { return 1.0; });
    look();
    EXPECT_EQ(told, 0u);
}

} // namespace
} // namespace libprofile::test
