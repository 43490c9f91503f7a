// Scaling: efficiencies and lost time of programs with a known serial share, and models of known growth.
#include "tools/comparison/growth.hpp"
#include "tools/comparison/scaling.hpp"
#include "tools/comparison/scaling_document.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace libprofile::tools {
namespace {

struct KnownPart {
    const char* kind;
    const char* name;
    double (*seconds)(double);
};

/// Each part a function below main(), with its time on so many ranks.
tools::Run run_of_size(std::size_t ranks, std::initializer_list<KnownPart> parts, std::size_t threads = 1) {
    Frame frame;
    frame.add_node(0, "program", "app");
    const std::uint32_t main = frame.add_node(0, "function", "main", "app.c", 1, "/bin/app");
    FrameColumn column{"time", "ns", {0}, {}, {}};
    for (const KnownPart& part : parts) frame.add_node(main, part.kind, part.name, "app.c", 2, "/bin/app");
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            frame.places.push_back({rank, thread, "host"});
            std::uint32_t node = main;
            for (const KnownPart& part : parts) {
                column.node.push_back(++node);
                column.value.push_back(part.seconds(static_cast<double>(ranks * threads)) * 1e9);
            }
            column.begin.push_back(column.node.size());
        }
    frame.columns.push_back(column);
    frame.check();
    return run_of(frame, std::to_string(ranks), "hatchet", {});
}

double serial(double) { return 1; }
double divided(double p) { return 8 / p; }
double whole(double) { return 8; }
double wait(double p) { return 0.1 * std::log2(p); }

TEST(Scaling, EfficienciesOfAKnownSerialShareAreFoundWhateverTheOrderOfRuns) {
    std::vector<tools::Run> runs;
    for (const std::size_t ranks : {8, 2, 4, 1, 4})
        runs.push_back(run_of_size(ranks, {{"function", "setup", serial}, {"function", "work", divided}, {"mpi", "MPI_Allreduce", wait}}));
    const Scaling scaling = scaling_of(runs, {});
    EXPECT_EQ(scaling.kind, ScalingKind::Strong);
    ASSERT_EQ(scaling.sizes.size(), 4u);
    for (const ScaledSize& size : scaling.sizes) {
        const auto p = static_cast<double>(size.resources);
        EXPECT_NEAR(size.efficiency, 9 / p / (1 + 8 / p + wait(p)), 1e-9);
    }
    EXPECT_EQ(scaling.sizes[2].runs.size(), 2u);
    EXPECT_NEAR(scaling.lost, (1 + 1 + 0.3 - 9.0 / 8) * 1e9, 1);
    EXPECT_NEAR(scaling.lost_by_use[static_cast<std::size_t>(TimeUse::Waiting)], 0.3e9, 1);
    EXPECT_EQ(scaling.activities.at(0).activity.name, "setup");
    EXPECT_NEAR(scaling.activities[0].efficiency, 1.0 / 8, 1e-9);
    const std::vector<std::string> sentences = scaling_sentences(scaling);
    EXPECT_EQ(sentences.at(0), "efficiency is 48.9 % on 8 ranks: 2.300 s, 9.000 s on 1 rank (strong scaling, 3.91 times as fast with 8 times the processors)");
    EXPECT_NE(sentences.at(2).find("every rank does all of it"), std::string::npos);
}

TEST(Scaling, AProblemThatGrowsIsSeenAndThreadsAreResources) {
    std::vector<tools::Run> runs;
    for (const std::size_t threads : {1, 4}) runs.push_back(run_of_size(2, {{"function", "work", whole}, {"mpi", "MPI_Barrier", wait}}, threads));
    const Scaling weak = scaling_of(runs, {});
    EXPECT_EQ(weak.kind, ScalingKind::Weak);
    EXPECT_TRUE(weak.is_sure);
    EXPECT_EQ(weak.largest().resources, 8u);
    EXPECT_NEAR(weak.largest().efficiency, 8.1 / 8.3, 1e-9);
    const Scaling strong = scaling_of(runs, ScalingKind::Strong);
    EXPECT_NEAR(strong.largest().efficiency, 8.1 / 8.3 / 4, 1e-9);
    runs.resize(1);
    EXPECT_THROW(scaling_of(runs, {}), FrameError);
}

TEST(Scaling, WhatEveryRankDoesIsNoGrowingProblem) {
    // On 128 ranks all together compute 15 times as long as on one, more than the square root of 128; but each of them an eighth as long.
    for (const std::size_t ranks : {2, 4, 8, 32, 128}) {
        std::vector<tools::Run> runs;
        for (const std::size_t size : {std::size_t{1}, ranks})
            runs.push_back(run_of_size(size, {{"function", "setup", serial}, {"function", "work", divided}}));
        const Scaling scaling = scaling_of(runs, {});
        EXPECT_EQ(scaling.kind, ScalingKind::Strong) << ranks;
        EXPECT_TRUE(scaling.is_sure) << ranks;
        EXPECT_LT(scaling.largest().efficiency, 1) << ranks;
    }
}

TEST(Growth, TermsOfExactTimesAreFound) {
    const double sizes[] = {2, 4, 8, 16, 32, 64};
    for (const GrowthTerm& term : {GrowthTerm{1, 0}, {0.5, 0}, {0, 1}, {1, 1}, {2, 0}, {-1, 0}, {1.0 / 3, 0}, {0, 2}, {-0.5, 1}}) {
        std::vector<double> values;
        for (const double p : sizes) values.push_back(3 + 2 * std::pow(p, term.power) * std::pow(std::log2(p), term.logs));
        const Growth growth = growth_of(sizes, values);
        ASSERT_TRUE(growth.is_known);
        EXPECT_EQ(growth_text(growth.best), growth_text({0, 1, term, 0}));
        EXPECT_NEAR(growth.best.constant, 3, 1e-6);
        EXPECT_NEAR(growth.best.factor, 2, 1e-6);
    }
    const double constant[] = {5, 5, 5, 5, 5, 5};
    EXPECT_EQ(growth_text(growth_of(sizes, constant).best), "constant");
    EXPECT_TRUE(growth_of(sizes, constant).rivals.empty());
}

TEST(Growth, WhereNoiseHidesTheTermItIsSaidOrTheForecastHolds) {
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 0.02);
    const double sizes[] = {2, 4, 8, 16, 32};
    int wrong = 0, sure = 0;
    constexpr int rounds = 300;
    for (int round = 0; round < rounds; ++round) {
        const bool is_log = round % 2 == 0;
        const auto truth = [&](double p) { return is_log ? 10 + std::log2(p) : 1 + 16 / p; };
        std::vector<double> values;
        for (const double p : sizes) values.push_back(truth(p) * (1 + noise(random)));
        const Growth growth = growth_of(sizes, values);
        if (!growth.rivals.empty()) continue;
        ++sure;
        wrong += std::abs(growth.best.at(128) - truth(128)) > 0.4 * truth(128);
    }
    EXPECT_GT(sure, rounds / 10);
    EXPECT_LT(wrong, rounds / 20) << "of " << sure;
}

TEST(Growth, OfFewSizesAndTimesOfZeroNothingIsSaid) {
    const double sizes[] = {1, 2, 4, 8, 16}, values[] = {1, 2, 0, 8, 16};
    EXPECT_FALSE(growth_of(std::span(sizes, 4), std::span(sizes, 4)).is_known);
    EXPECT_FALSE(growth_of(sizes, values).is_known);
    EXPECT_EQ(growth_text(growth_of(sizes, sizes).best), "p");
}

} // namespace
} // namespace libprofile::tools
