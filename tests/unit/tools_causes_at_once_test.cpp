// Causes that lie in each other or beside each other, and courses that are none of those that growth is told by.
#include "tests/unit/tools_truth_score.hpp"
#include "tools/diagnosis/pursuit.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace libprofile::test {
namespace {

using tools::IterationMatrix;
using tools::IterationPart;
using tools::PatternKind;
using tools::Suspect;
using tools::SuspectKind;

constexpr double typical = 1e8; // ns an iteration

/// Ranks that meet in each iteration, with jitter of 1 %. @param more by rank, iteration: of a typical iteration
IterationMatrix matrix_with(std::size_t ranks, std::size_t n, const std::function<double(std::size_t, std::size_t)>& more, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> jitter(1, 0.01);
    IterationMatrix matrix(ranks, n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t r = 0; r < ranks; ++r) {
            matrix.at(IterationPart::Local, r, i) = static_cast<float>(typical * (jitter(random) + more(r, i)));
            matrix.at(IterationPart::CollectiveCalls, r, i) = 1;
        }
    return matrix;
}
std::vector<Suspect> suspects_of(const IterationMatrix& matrix) { return find_suspects(matrix, 0.01 * typical * static_cast<double>(matrix.iterations())); }

TEST(CausesAtOnce, ARangeInsideTheLongerOneOfAnotherRankIsAnotherMatter) {
    const std::vector<Suspect> found = suspects_of(matrix_with(8, 1000, [](std::size_t r, std::size_t i) {
        return r == 3 && i >= 100 && i < 200 ? 0.6 : r == 5 && i >= 50 && i < 800 ? 0.1 : 0;
    }));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].rows, std::vector<std::size_t>{5});
    EXPECT_EQ(found[0].pattern.iterations(), 750u);
    EXPECT_EQ(found[1].rows, std::vector<std::size_t>{3});
    EXPECT_EQ(found[1].pattern.iterations(), 100u);
}

TEST(CausesAtOnce, TwoPeriodsAreToldOneByOne) {
    for (const std::size_t ranks : {1, 8}) { // of all ranks, or of one
        std::vector<Suspect> found = suspects_of(matrix_with(ranks, 1000, [&](std::size_t r, std::size_t i) {
            return ranks > 1 && r != 3 ? 0 : i % 10 == 3 ? 0.2 : i % 25 == 24 ? 0.45 : 0;
        }));
        std::sort(found.begin(), found.end(), [](const Suspect& a, const Suspect& b) { return a.pattern.iterations() > b.pattern.iterations(); });
        ASSERT_EQ(found.size(), 2u) << ranks;
        EXPECT_EQ(found[0].pattern.iterations(), 100u) << ranks;
        EXPECT_EQ(found[1].pattern.iterations(), 40u) << ranks;
    }
}

TEST(CausesAtOnce, WorkThatStaysWithARankForLongGoesAroundThough) {
    for (const std::size_t stays : {125, 50}) { // once, or twice and a half
        const std::vector<Suspect> found = suspects_of(matrix_with(8, 1000, [&](std::size_t r, std::size_t i) { return i / stays % 8 == r ? 0.05 : 0; }));
        ASSERT_EQ(found.size(), 1u) << stays;
        EXPECT_EQ(found[0].kind, SuspectKind::MovingRank);
        EXPECT_EQ(found[0].rows.size(), 8u);
        EXPECT_EQ(found[0].pattern.period, stays == 50 ? 400u : 0u);
        EXPECT_NEAR(found[0].gain.value / (1000 * typical) / 0.036, 1, 0.25); // 5 %, without what jitter of the others hides
    }
}

TEST(CausesAtOnce, DriftsOfRanksThatDoNotKnowOfEachOtherAreNoTurns) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(100 + seed);
        std::normal_distribution<double> step(0, 0.0014);
        std::vector<double> level(8);
        const std::vector<Suspect> found = suspects_of(matrix_with(
            8, 1000, [&](std::size_t r, std::size_t) { return level[r] = 0.99 * level[r] + step(random); }, seed));
        EXPECT_TRUE(found.empty()) << "seed " << seed;
    }
}

TEST(CausesAtOnce, LongIterationsOfARankAreNoJitterThoughItHasManyOfThem) {
    for (const std::size_t ranks : {2, 8})
        for (const double share : {0.1, 0.25, 0.5}) {
            std::mt19937_64 random(7);
            std::size_t hits = 0;
            std::vector<Suspect> found = suspects_of(matrix_with(ranks, 1000, [&](std::size_t r, std::size_t) {
                const bool is_hit = r == 1 && std::uniform_real_distribution<double>(0, 1)(random) < share;
                hits += is_hit ? 1 : 0;
                return is_hit ? 0.4 : 0;
            }));
            ASSERT_EQ(found.size(), 1u) << ranks << " ranks, " << share;
            EXPECT_EQ(found[0].rows, std::vector<std::size_t>{1});
            EXPECT_EQ(found[0].pattern.iterations(), hits) << ranks << " ranks, " << share;
        }
}

TEST(CausesAtOnce, LongIterationsOfAllRanksAreNoJitterThoughManyHaveSome) {
    for (const std::size_t ranks : {2, 8, 64})
        for (const double share : {0.15, 0.4}) {      // of the iterations, roughly
            if (ranks == 2 && share == 0.4) continue; // both are long often enough to be told for that
            std::mt19937_64 random(7);
            std::vector<bool> is_hit(1000);
            std::vector<Suspect> found = suspects_of(matrix_with(ranks, 1000, [&](std::size_t, std::size_t i) {
                if (std::uniform_real_distribution<double>(0, 1)(random) >= share / static_cast<double>(ranks)) return 0.0;
                is_hit[i] = true;
                return 0.3;
            }));
            const auto hits = static_cast<double>(std::count(is_hit.begin(), is_hit.end(), true));
            ASSERT_EQ(found.size(), 1u) << ranks << " ranks, " << share;
            EXPECT_EQ(found[0].kind, SuspectKind::ScatteredRank) << ranks << " ranks, " << share;
            EXPECT_NEAR(static_cast<double>(found[0].pattern.iterations()) / hits, 1, 0.2)
                << ranks << " ranks, " << share; // what half of the ranks have is not one's own
        }
}

void expect_all(const TruthScore& s) {
    EXPECT_EQ(s.found, s.planted) << s.wrong;
    EXPECT_EQ(s.right, s.reported) << s.wrong;
    EXPECT_EQ(s.ranks, s.found) << s.wrong;
    EXPECT_EQ(s.function, s.functions) << s.wrong;
    EXPECT_EQ(s.gain, s.found) << s.wrong;
}

TEST(CausesAtOnce, ARankThatGrowsWhileAllOthersShrinkIsComparedWithThem) {
    TruthScore all;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) all.add(score_of({8, 800, "normal", {"growing", "less_assembly"}, 0.08, seed}));
    expect_all(all);
}

TEST(CausesAtOnce, ARangeOfARankThatGrowsIsToldByItself) {
    TruthScore all;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) all.add(score_of({2, 800, "normal", {"growing", "assembly"}, 0.06, seed}));
    expect_all(all);
}

TEST(CausesAtOnce, GrowthBeginsAtWhatWasThereHoweverSteepItIs) {
    TruthScore all;
    for (const std::size_t ranks : {1, 8})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) all.add(score_of({ranks, 800, "normal", {"levels_off"}, 0.1, seed}));
    expect_all(all);
}

TEST(CausesAtOnce, AStepIsNoGrowth) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const LostRun run({8, 1000, "normal", {"early_step"}, 0.15, seed});
        for (const tools::Diagnosis& one : diagnose(LostProfile(run).read()).list) EXPECT_NE(one.cause, tools::Cause::GrowingWork) << one.sentence;
    }
}

} // namespace
} // namespace libprofile::test
