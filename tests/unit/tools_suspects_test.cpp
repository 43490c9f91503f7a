// Suspects of generated runs against what was planted there: ranks, iterations, and the gain.
#include "tools/diagnosis/pursuit.hpp"
#include "tools_lost_time.hpp"

#include <cstdio>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace libprofile::test {
namespace {

using namespace libprofile::tools;

struct Score {
    std::size_t planted = 0, found = 0, right_ranks = 0, right_iterations = 0, right_gain = 0, reported = 0, right = 0;
    std::string wrong;
};

double jaccard(const std::set<std::size_t>& a, const ExcessPattern& pattern) {
    std::size_t both = 0, either = 0;
    for (std::size_t i = 0; i < pattern.excess.size(); ++i) {
        const bool in_a = a.contains(i), in_b = pattern.excess[i] > 0;
        both += in_a && in_b ? 1 : 0;
        either += in_a || in_b ? 1 : 0;
    }
    return either == 0 ? 0 : static_cast<double>(both) / static_cast<double>(either);
}

bool has_ranks(const Planted& planted, const Suspect& suspect) {
    if (planted.ranks.empty())
        return suspect.kind == SuspectKind::AllRanks || suspect.kind == SuspectKind::MovingRank || suspect.kind == SuspectKind::ScatteredRank;
    if (planted.cause == "moving" || planted.cause == "noise") return suspect.kind == SuspectKind::MovingRank || suspect.kind == SuspectKind::ScatteredRank;
    return suspect.kind == SuspectKind::FewRanks && std::set<std::size_t>(suspect.rows.begin(), suspect.rows.end()) == planted.ranks;
}

/// A suspect is that of a cause if it has its ranks, and most of its iterations.
void score(const GeneratedRun& run, const std::string& name, Score& to) {
    const std::vector<Suspect> suspects = find_suspects(run.matrix, 0.01 * run.run_ns);
    std::vector<bool> is_right(suspects.size());
    for (const Planted& planted : run.planted) {
        ++to.planted;
        const Suspect* best = nullptr;
        for (std::size_t s = 0; s < suspects.size(); ++s) {
            if (!has_ranks(planted, suspects[s]) || jaccard(planted.iterations, suspects[s].pattern) < 0.3) continue;
            is_right[s] = true;
            if (best == nullptr || suspects[s].gain.value > best->gain.value) best = &suspects[s];
        }
        if (best == nullptr) {
            to.wrong += name + " " + planted.cause + ": not found\n";
            continue;
        }
        ++to.found;
        const bool is_ramp = planted.cause == "ramp" || planted.cause == "growth" || planted.cause == "shrinking"; // its beginning is nothing
        const bool iterations = jaccard(planted.iterations, best->pattern) >= (is_ramp ? 0.6 : 0.9);
        const bool gain = std::abs(best->gain.value / planted.gain - 1) <= 0.25;
        to.right_iterations += iterations ? 1 : 0;
        to.right_gain += gain ? 1 : 0;
        if (!iterations || !gain)
            to.wrong += name + " " + planted.cause + ": overlap " + std::to_string(jaccard(planted.iterations, best->pattern)) + ", gain " +
                        std::to_string(best->gain.value / planted.gain) + " as " + pattern_name(best->pattern.kind) + "\n";
    }
    for (std::size_t s = 0; s < suspects.size(); ++s) {
        ++to.reported;
        to.right += is_right[s] ? 1 : 0;
        if (!is_right[s])
            to.wrong += name + ": " + pattern_name(suspects[s].pattern.kind) + " of kind " + std::to_string(static_cast<int>(suspects[s].kind)) + " with " +
                        std::to_string(100 * suspects[s].gain.value / run.run_ns) + " % was not planted\n";
    }
}

constexpr const char* causes[] = {"steady", "host", "range", "ramp", "periodic_rank", "moving", "noise", "growth", "changed", "periodic", "warm_up"};

Score scores_of(double share, std::size_t ranks, std::size_t iterations) {
    Score all;
    for (const char* cause : causes)
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            RunGenerator generator(ranks, iterations, 0.01, seed);
            generator.plant(cause, share);
            score(generator.make(), std::to_string(ranks) + " ranks, " + std::to_string(100 * share) + " %, seed " + std::to_string(seed), all);
        }
    return all;
}

void expect_good(const Score& s) {
    std::printf("%zu planted, %zu found, %zu with their iterations, %zu with their gain; %zu reported, %zu of them right\n", s.planted, s.found,
                s.right_iterations, s.right_gain, s.reported, s.right);
    EXPECT_GE(static_cast<double>(s.found), 0.9 * static_cast<double>(s.planted)) << s.wrong;
    EXPECT_GE(static_cast<double>(s.right), 0.95 * static_cast<double>(s.reported)) << s.wrong;
    EXPECT_GE(static_cast<double>(s.right_iterations), 0.9 * static_cast<double>(s.found)) << s.wrong;
    EXPECT_GE(static_cast<double>(s.right_gain), 0.9 * static_cast<double>(s.found)) << s.wrong;
}

TEST(SuspectsTest, TwoPercentOfTheRunAreFoundOnEightRanks) { expect_good(scores_of(0.02, 8, 1000)); }
TEST(SuspectsTest, FivePercentOfTheRunAreFoundOnTwoRanks) { expect_good(scores_of(0.05, 2, 1000)); }
TEST(SuspectsTest, FivePercentOfTheRunAreFoundOnSixtyFourRanks) { expect_good(scores_of(0.05, 64, 500)); }
TEST(SuspectsTest, AFifthOfTheRunIsFoundOnEightRanks) { expect_good(scores_of(0.2, 8, 400)); }

TEST(SuspectsTest, HalfOfTheRanksAndWorkThatShrinksAreFound) {
    Score all;
    for (const char* cause : {"half", "shrinking"})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            RunGenerator generator(8, 1000, 0.01, seed);
            generator.plant(cause, 0.05);
            score(generator.make(), "seed " + std::to_string(seed), all);
        }
    expect_good(all);
}

TEST(SuspectsTest, TwoCausesAtOnceAreBothFound) {
    Score all;
    for (std::size_t a = 0; a < std::size(causes); ++a)
        for (std::size_t b = a + 1; b < std::size(causes); ++b) {
            if (std::set<std::string>{causes[a], causes[b]} == std::set<std::string>{"steady", "host"}) continue; // one cause on more ranks
            RunGenerator generator(16, 1000, 0.01, 100 * a + b);
            generator.plant(causes[a], 0.05);
            generator.plant(causes[b], 0.05);
            score(generator.make(), std::string(causes[a]) + " and " + causes[b], all);
        }
    std::printf("%zu planted, %zu found; %zu reported, %zu of them right\n", all.planted, all.found, all.reported, all.right);
    EXPECT_GE(static_cast<double>(all.found), 0.9 * static_cast<double>(all.planted)) << all.wrong;
    EXPECT_GE(static_cast<double>(all.right), 0.9 * static_cast<double>(all.reported)) << all.wrong;
}

TEST(SuspectsTest, RunsWithJitterAloneHaveNoSuspects) {
    std::size_t suspects = 0;
    for (const double jitter : {0.005, 0.01, 0.03, 0.05})
        for (std::uint64_t seed = 1; seed <= 5; ++seed)
            for (const std::size_t ranks : {2, 8, 64}) {
                const GeneratedRun run = RunGenerator(ranks, 500, jitter, seed).make();
                suspects += find_suspects(run.matrix, 0.01 * run.run_ns).size();
            }
    EXPECT_LE(suspects, 1u);
}

std::set<std::size_t> iterations_of(const Suspect& suspect) {
    std::set<std::size_t> list;
    for (std::size_t i = 0; i < suspect.pattern.excess.size(); ++i)
        if (suspect.pattern.excess[i] > 0) list.insert(i);
    return list;
}

TEST(SuspectsTest, ALoneSpikeIsToldByItselfHoweverHeavyTheTailOfJitterIs) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        GeneratedRun run = RunGenerator(2, 150, 0.01, seed).make();
        std::mt19937_64 random(seed);
        for (std::size_t r = 0; r < 2; ++r)
            for (std::size_t i = 0; i < 150; ++i) // index 1
                run.matrix.at(IterationPart::Local, r, i) +=
                    static_cast<float>(0.1 * RunGenerator::typical * std::min(40.0, 1 / (1 - random() % 10'000 * 1e-4)));
        run.matrix.at(IterationPart::Local, 1, 50) += static_cast<float>(50 * RunGenerator::typical);
        const std::vector<Suspect> suspects = find_suspects(run.matrix, 0.01 * run.run_ns);
        ASSERT_FALSE(suspects.empty()) << "seed " << seed;
        EXPECT_EQ(suspects[0].kind, SuspectKind::FewRanks) << "seed " << seed;
        EXPECT_EQ(suspects[0].rows, (std::vector<std::size_t>{1})) << "seed " << seed;
        EXPECT_EQ(iterations_of(suspects[0]), (std::set<std::size_t>{50})) << "seed " << seed;
    }
}

TEST(SuspectsTest, ALoneSpikeIsNoPartOfWhatItsRankDoesMoreInOtherIterations) {
    for (const char* cause : {"steady", "range", "periodic_rank", "moving"}) {
        RunGenerator generator(2, 400, 0.01, 5);
        generator.plant(cause, 0.05);
        GeneratedRun run = generator.make();
        run.matrix.at(IterationPart::Local, 1, 150) += static_cast<float>(50 * RunGenerator::typical);
        run.run_ns += 50 * RunGenerator::typical;
        const std::vector<Suspect> suspects = find_suspects(run.matrix, 0.01 * run.run_ns);
        ASSERT_EQ(suspects.size(), 2u) << cause;
        EXPECT_EQ(iterations_of(suspects[0]), (std::set<std::size_t>{150})) << cause;
        EXPECT_GE(jaccard(run.planted[0].iterations, suspects[1].pattern), 0.9) << cause;
    }
}

TEST(SuspectsTest, TriflesAreNoPartOfWhatIsTenTimesAsLong) {
    for (const bool is_common : {false, true}) {
        GeneratedRun run = RunGenerator(2, 400, 0.01, 9).make();
        const auto add = [&](std::size_t i, double share) {
            for (std::size_t r = is_common ? 0 : 1; r < 2; ++r) run.matrix.at(IterationPart::Local, r, i) += static_cast<float>(share * RunGenerator::typical);
            run.run_ns += share * RunGenerator::typical;
        };
        const std::set<std::size_t> spikes{31, 92, 155, 250, 347}, trifles{17, 40, 66, 119, 171, 200, 203, 260, 281, 305, 311, 390};
        for (const std::size_t i : spikes) add(i, 8);
        for (const std::size_t i : trifles) add(i, 0.6);
        const std::vector<Suspect> suspects = find_suspects(run.matrix, 0.01 * run.run_ns);
        ASSERT_GE(suspects.size(), 2u) << is_common;
        EXPECT_EQ(iterations_of(suspects[0]), spikes) << is_common;
        EXPECT_EQ(iterations_of(suspects[1]), trifles) << is_common;
    }
}

TEST(SuspectsTest, AnotherRankThatIsLittleLongerInTheOtherIterationsHasNoPartOfIt) {
    RunGenerator generator(2, 400, 0.01, 3);
    generator.plant("range", 0.4);
    GeneratedRun run = generator.make();
    const std::set<std::size_t>& planted = run.planted[0].iterations;
    for (std::size_t i = 0; i < 400; ++i)
        if (!planted.contains(i)) run.matrix.at(IterationPart::Local, 0, i) *= 1.07F;
    const Suspect first = find_suspects(run.matrix, 0.01 * run.run_ns).at(0);
    EXPECT_EQ(first.kind, SuspectKind::FewRanks);
    EXPECT_EQ(first.rows, (std::vector<std::size_t>{1}));
    EXPECT_GE(jaccard(planted, first.pattern), 0.9);
}

TEST(SuspectsTest, ARankThatTheOthersDoNotWaitForIsNoGainOfEachIteration) {
    RunGenerator generator(4, 200, 0.01, 7);
    generator.plant("moving", 0.2);
    GeneratedRun run = generator.make();
    const double together = find_suspects(run.matrix, 0.01 * run.run_ns).at(0).gain.value;
    for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t i = 0; i < 200; ++i) run.matrix.at(IterationPart::CollectiveCalls, r, i) = 0;
    const Gain apart = find_suspects(run.matrix, 0.01 * run.run_ns).at(0).gain;
    EXPECT_LT(apart.value, 0.8 * together);
    EXPECT_LT(apart.low, 0.5 * together);
    EXPECT_GE(apart.high, 0.9 * together);
}

} // namespace
} // namespace libprofile::test
