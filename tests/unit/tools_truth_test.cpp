// Diagnoses of whole profiles against what was planted in them: cause, ranks, function, iterations and gain. benchmarks/ground_truth has the full table.
#include "tests/unit/tools_truth_score.hpp"

#include <gtest/gtest.h>

namespace libprofile::test {
namespace {

double share(std::size_t part, std::size_t all) { return all == 0 ? 1 : static_cast<double>(part) / static_cast<double>(all); }

void expect_good(const TruthScore& s) {
    EXPECT_GE(share(s.found, s.planted), 0.9) << s.wrong;
    EXPECT_GE(share(s.right, s.reported), 0.95) << s.wrong;
    EXPECT_GE(share(s.ranks, s.found), 0.9) << s.wrong;
    EXPECT_GE(share(s.function, s.functions), 0.9) << s.wrong;
    EXPECT_GE(share(s.iterations, s.iteration_lists), 0.9) << s.wrong;
    EXPECT_GE(share(s.gain, s.found), 0.9) << s.wrong;
}

/// Each cause once, with the kinds of jitter in turn.
TruthScore scores_of(std::size_t ranks, double share, LostShapes shapes) {
    const std::vector<std::string> jitters = jitters_of(shapes);
    TruthScore all;
    std::size_t turn = 0;
    for (const std::string& cause : causes_of_truth()) all.add(score_of({ranks, 600, jitters[turn++ % jitters.size()], {cause}, share, 11, shapes}));
    return all;
}

TEST(GroundTruth, FivePercentOfTheRunAreNamedOnEightRanks) { expect_good(scores_of(8, 0.05, LostShapes::Tuned)); }
TEST(GroundTruth, FivePercentInOtherShapesAreNamedOnEightRanks) { expect_good(scores_of(8, 0.05, LostShapes::HeldOut)); }
TEST(GroundTruth, AFifthOfTheRunIsNamedOnTwoRanks) { expect_good(scores_of(2, 0.2, LostShapes::HeldOut)); }

TEST(GroundTruth, JitterOfAnyShapeIsNoCause) {
    TruthScore all;
    for (const char* jitter : {"normal", "exponential", "ranks", "drift", "gamma", "laplace", "bursts"})
        for (const std::size_t ranks : {2, 8, 64}) all.add(score_of({ranks, 400, jitter, {}, 0, 77}));
    EXPECT_LE(all.reported, 1u) << all.wrong;
}

TEST(GroundTruth, WhatARankDoesForOthersIsNotHiddenByTheirJitter) {
    const TruthScore score = score_of({1000, 400, "gamma", {"gather"}, 0.02, 1001, LostShapes::HeldOut});
    EXPECT_EQ(score.found, 1u) << score.wrong;
    EXPECT_EQ(score.gain, 1u) << score.wrong;
}

TEST(GroundTruth, AHostWithLessProcessorIsNamedThoughSingleIterationsHaveJitter) {
    const TruthScore score = score_of({400, 400, "bursts", {"off_host"}, 0.02, 3, LostShapes::HeldOut});
    EXPECT_EQ(score.found, 1u) << score.wrong;
    EXPECT_EQ(score.ranks, 1u) << score.wrong;
}

TEST(GroundTruth, AFunctionThatAllOthersCallHidesNeitherWorkNorASlowProcessor) {
    TruthScore all;
    for (const char* cause : {"steady", "range", "growing", "late_root", "slow"})
        for (const std::size_t ranks : {2, 8})
            for (const std::uint64_t seed : {1, 2}) {
                LostRunChoice choice{ranks, 600, "normal", {cause}, 0.2, seed};
                choice.kernel = true;
                all.add(score_of(choice));
            }
    expect_good(all);
}

tools::DiagnosedRun diagnosed(const std::vector<std::string>& planted, double share) {
    const LostRun run({2, 480, "normal", planted, share, 3});
    return diagnose(LostProfile(run).read());
}

TEST(GroundTruth, APeriodWithTwoPlacesIsToldWithBoth) {
    const tools::DiagnosedRun run = diagnosed({"two_places"}, 0.1);
    ASSERT_FALSE(run.list.empty());
    EXPECT_EQ(run.list[0].period, 12u);
    EXPECT_NE(run.list[0].sentence.find("in 2 of every 12 iterations (from 3: 3, 8, 15, 20, ...)"), std::string::npos) << run.list[0].sentence;
}

TEST(GroundTruth, APeriodIsTheSmallestThatHasTheIterations) {
    const tools::DiagnosedRun run = diagnosed({"two_periods"}, 0.1);
    ASSERT_FALSE(run.list.empty());
    EXPECT_EQ(run.list[0].period, 5u);
    EXPECT_NE(run.list[0].sentence.find("in every 5th iteration (from 3)"), std::string::npos) << run.list[0].sentence;
}

TEST(GroundTruth, WaitingThatFindingsExplainIsNoTimeWithoutACause) {
    const tools::DiagnosedRun run = diagnosed({"in_turn"}, 0.3);
    EXPECT_FALSE(run.list.empty());
    for (const std::string& untold : run.untold) EXPECT_EQ(untold.find("without a cause"), std::string::npos) << untold;
}

TEST(GroundTruth, WaitingInTurnThatNoFindingExplainsIsToldAsTimeWithoutACause) {
    const LostRun lost({2, 480, "normal", {"in_turn"}, 0.3, 3});
    tools::DiagnosisChoice choice;
    choice.least = 0.9;
    const tools::DiagnosedRun run = diagnose(LostProfile(lost).read(), choice);
    EXPECT_TRUE(run.list.empty());
    EXPECT_TRUE(std::any_of(run.untold.begin(), run.untold.end(), [](const std::string& text) { return text.find("without a cause") != std::string::npos; }));
}

TEST(GroundTruth, WhatIsMostlySleepAndFilesIsNotSaidToBeComputed) {
    const tools::DiagnosedRun run = diagnosed({"growth", "growth_off", "growth_files"}, 0.1);
    ASSERT_FALSE(run.list.empty());
    EXPECT_EQ(run.list[0].cause, tools::Cause::GrowingWork);
    EXPECT_EQ(run.list[0].sentence.find("compute"), std::string::npos) << run.list[0].sentence;
    EXPECT_NE(run.list[0].sentence.find("All ranks take more and more time"), std::string::npos) << run.list[0].sentence;
}

TEST(GroundTruth, TwoCausesAtOnceAreBothNamed) {
    TruthScore all;
    const std::pair<const char*, const char*> pairs[] = {{"steady", "periodic"},        {"range", "io_rank"}, {"late_root", "volume"},
                                                         {"growth_counts", "off_rank"}, {"slow", "warm_up"},  {"late_sender", "noise"},
                                                         {"io_all", "range"},           {"moving", "warm_up"}};
    for (const auto& [a, b] : pairs) all.add(score_of({8, 600, "normal", {a, b}, 0.05, 5}));
    EXPECT_GE(share(all.found, all.planted), 0.9) << all.wrong;
    EXPECT_GE(share(all.right, all.reported), 0.9) << all.wrong;
}

} // namespace
} // namespace libprofile::test
