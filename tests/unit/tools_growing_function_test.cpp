// Work of all ranks that grows in one function, where the machine gets slower and faster by as much for all functions.
#include "tools_truth_score.hpp"

#include <gtest/gtest.h>

namespace libprofile::test {
namespace {

TEST(GrowingFunction, IsToldFromADriftOfAllFunctionsByItsSamples) {
    TruthScore all;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) all.add(score_of({48, 600, "gamma", {"growth"}, 0.02, seed, LostShapes::HeldOut}));
    EXPECT_GE(all.found, 11u) << all.wrong;
    EXPECT_EQ(all.function, all.functions) << all.wrong;
    EXPECT_GE(all.gain * 10, all.found * 7) << all.wrong;
    EXPECT_EQ(all.right, all.reported) << all.wrong;
}

TEST(GrowingFunction, ADriftOfAllFunctionsIsNone) {
    TruthScore all;
    for (const std::size_t ranks : {2, 8, 48})
        for (std::uint64_t seed = 1; seed <= 10; ++seed) all.add(score_of({ranks, 600, "gamma", {}, 0, seed}));
    EXPECT_EQ(all.reported, 0u) << all.wrong;
}

/// What is longer in a part of the run, or in single iterations, or on one rank, is not growth.
TEST(GrowingFunction, WorkThatChangesOtherwiseIsNone) {
    TruthScore all;
    for (const char* cause : {"changed", "periodic", "warm_up", "growing", "range"})
        for (std::uint64_t seed = 1; seed <= 4; ++seed) all.add(score_of({8, 600, "normal", {cause}, 0.05, seed, LostShapes::HeldOut}));
    EXPECT_EQ(all.right, all.reported) << all.wrong;
}

/// The machine gets faster meanwhile, by as much as the function grows.
TEST(GrowingFunction, IsToldThoughAllElseGetsShorter) {
    const LostRun run({64, 1000, "bursts", {"growth"}, 0.02, 1103, LostShapes::HeldOut});
    const tools::DiagnosedRun diagnosed = diagnose(LostProfile(run).read());
    ASSERT_EQ(diagnosed.list.size(), 1u);
    EXPECT_EQ(diagnosed.list[0].cause, tools::Cause::GrowingWork);
    EXPECT_EQ(diagnosed.list[0].function, "refine");
    EXPECT_NE(diagnosed.list[0].sentence.find("ms an iteration longer than at first in the end"), std::string::npos) << diagnosed.list[0].sentence;
    EXPECT_TRUE(std::any_of(diagnosed.list[0].evidence.begin(), diagnosed.list[0].evidence.end(),
                            [](const std::string& text) { return text.find("all else took") != std::string::npos; }));
}

/// What changes in a part of the run, and is not found by its time, changes the shares of samples, too.
TEST(GrowingFunction, IsNoneIfAllElseWouldHaveToGetMuchShorter) {
    const TruthScore score = score_of({6, 700, "student", {"changed"}, 0.02, 2506, LostShapes::Judged});
    EXPECT_EQ(score.right, score.reported) << score.wrong;
}

TEST(GrowingFunction, IsToldBesideWorkThatChangesInTheSameFunction) {
    TruthScore all;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) all.add(score_of({16, 600, "normal", {"growth", "periodic"}, 0.04, seed}));
    EXPECT_EQ(all.found, all.planted) << all.wrong;
    EXPECT_EQ(all.right, all.reported) << all.wrong;
}

TEST(GrowingFunction, IsNoneWhereAllFunctionsGrow) {
    for (const std::size_t ranks : {2, 8})
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const LostRun run({ranks, 600, "normal", {"slowdown"}, 0.2, seed});
            const tools::DiagnosedRun diagnosed = diagnose(LostProfile(run).read());
            ASSERT_FALSE(diagnosed.list.empty());
            EXPECT_EQ(diagnosed.list[0].cause, tools::Cause::GrowingWork);
            EXPECT_EQ(diagnosed.list[0].function, "") << diagnosed.list[0].sentence;
        }
}

} // namespace
} // namespace libprofile::test
