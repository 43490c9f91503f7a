// Diagnoses of whole profiles against what was planted in them: cause, ranks, function, iterations and gain. benchmarks/ground_truth has the full table.
#include "tests/unit/tools_truth_score.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

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

/// It stays for five iterations; or it goes anywhere.
TEST(GroundTruth, WorkThatGoesAroundTheRanksIsToldWithAfterHowManyIterations) {
    for (const LostShapes shapes : {LostShapes::HeldOut, LostShapes::Tuned}) {
        const LostRun run({8, 600, "normal", {"moving"}, 0.05, 3, shapes});
        const tools::DiagnosedRun found = diagnose(LostProfile(run).read());
        ASSERT_FALSE(found.list.empty());
        EXPECT_TRUE(found.list[0].moves);
        const bool goes_around = shapes == LostShapes::HeldOut;
        EXPECT_EQ(found.list[0].period, goes_around ? 40u : 0u);
        EXPECT_EQ(found.list[0].sentence.find("; it goes around the ranks in 40 iterations") != std::string::npos, goes_around) << found.list[0].sentence;
    }
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

TEST(GroundTruth, PackingInMpiIsWorkOfTheRankAndNoCommunication) {
    TruthScore all;
    for (const std::size_t ranks : {2, 8})
        for (const LostShapes shapes : {LostShapes::Tuned, LostShapes::HeldOut})
            for (const double share : {0.02, 0.2}) all.add(score_of({ranks, 600, jitters_of(shapes)[0], {"pack"}, share, 7, shapes}));
    expect_good(all);
}

TEST(GroundTruth, FilesThatRanksSleepForAreToldFromOtherSleepByTheSamplesBesideIt) {
    TruthScore all;
    for (const std::size_t ranks : {2, 8})
        for (const LostShapes shapes : {LostShapes::Tuned, LostShapes::HeldOut})
            for (const double share : {0.1, 0.2}) all.add(score_of({ranks, 600, jitters_of(shapes)[0], {"io_sleep"}, share, 7, shapes}));
    expect_good(all);
}

TEST(GroundTruth, FilesThatHaveHardlyAnySamplesAreToldByTheFunctionThatSleeps) {
    TruthScore all;
    for (const std::size_t ranks : {2, 8})
        for (std::uint64_t seed = 1; seed <= 4; ++seed) all.add(score_of({ranks, 1000, "normal", {"io_placed"}, 0.2, seed}));
    EXPECT_GE(all.found, 6u) << all.wrong; // some have no sample at all
    EXPECT_EQ(all.function, all.functions) << all.wrong;
    EXPECT_EQ(all.ranks, all.found) << all.wrong;
}

/// On a machine of two cores with two processors each: 0 and 2, 1 and 3.
void place(tools::Profile& profile, std::uint32_t rank, std::vector<std::uint32_t> allowed, std::uint32_t last) {
    tools::RankAffinity& affinity = profile.ranks.at(rank).affinity.emplace();
    affinity.machine.processors = 4;
    for (std::uint32_t p = 0; p < 4; ++p) affinity.processors.push_back({p, p % 2, 0, 0});
    affinity.threads.push_back({0, std::move(allowed), last, 100, 0, 0});
}

TEST(GroundTruth, RanksThatHaveFewerProcessorsThanThreadsAreOversubscribed) {
    for (const bool is_crowded : {true, false}) {
        const LostRun run({2, 400, "normal", {"off_all"}, 0.1, 3});
        tools::Profile profile = LostProfile(run).read();
        place(profile, 0, {3}, 3);
        place(profile, 1, is_crowded ? std::vector<std::uint32_t>{3} : std::vector<std::uint32_t>{1}, is_crowded ? 3 : 1);
        profile.ranks.at(1).host = profile.ranks.at(0).host;
        const tools::DiagnosedRun found = diagnose(profile);
        ASSERT_EQ(found.list.size(), is_crowded ? 1u : 0u);
        if (!is_crowded) continue;
        EXPECT_EQ(found.list[0].cause, tools::Cause::Oversubscribed);
        EXPECT_EQ(found.list[0].ranks, (std::vector<std::uint32_t>{0, 1}));
        EXPECT_NEAR(found.list[0].gain.value / run.planted()[0].gain, 1, 0.1);
        EXPECT_NE(found.list[0].sentence.find("share 1 processor of node0 (number 3)"), std::string::npos) << found.list[0].sentence;
    }
}

TEST(GroundTruth, ARankOffTheProcessorThatItSharesIsOversubscribed) {
    const LostRun run({8, 400, "normal", {"off_rank"}, 0.1, 3});
    tools::Profile profile = LostProfile(run).read();
    const std::uint32_t rank = run.planted()[0].ranks[0], other = rank == 0 ? 1 : rank - 1;
    for (const std::uint32_t one : {rank, other}) {
        place(profile, one, {2}, 2);
        profile.ranks.at(one).host = "node0";
    }
    const tools::DiagnosedRun found = diagnose(profile);
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].cause, tools::Cause::Oversubscribed);
    EXPECT_EQ(found.list[0].ranks, std::vector<std::uint32_t>{rank});
}

TEST(GroundTruth, ASlowRankIsNamedWithItsHostAndCore) {
    const LostRun run({8, 600, "normal", {"slow"}, 0.1, 3});
    tools::Profile profile = LostProfile(run).read();
    const std::uint32_t rank = run.planted()[0].ranks[0];
    place(profile, rank, {0, 1, 2, 3}, 3);
    const tools::DiagnosedRun found = diagnose(profile);
    ASSERT_FALSE(found.list.empty());
    EXPECT_EQ(found.list[0].cause, tools::Cause::SlowMachine);
    const std::string seat = "it ran on core 1 of node" + std::to_string(rank);
    EXPECT_TRUE(std::any_of(found.list[0].evidence.begin(), found.list[0].evidence.end(), [&](const std::string& text) { return text.starts_with(seat); }))
        << fmt::format("{}", fmt::join(found.list[0].evidence, "\n"));
}

TEST(Causes, CountedInstructionsTellASlowProcessorFromMoreWork) {
    tools::Suspect suspect;
    suspect.kind = tools::SuspectKind::FewRanks;
    suspect.pattern.kind = tools::PatternKind::Steady;
    tools::Evidence evidence;
    evidence.local_here = 1.2e6, evidence.local_there = 1e6, evidence.factor = 1.2;
    EXPECT_EQ(cause_of(suspect, evidence), tools::Cause::Imbalance) << "samples leave it open";
    evidence.instructions_here = evidence.instructions_there = 3e6;
    EXPECT_EQ(cause_of(suspect, evidence), tools::Cause::SlowMachine);
    evidence.instructions_here *= 1.2;
    evidence.odds_of_one_factor = 1000;
    EXPECT_EQ(cause_of(suspect, evidence), tools::Cause::Imbalance) << "all functions have more work";
}

TEST(Causes, WhatFewSamplesLeaveOpenIsNamedBesideTheCause) {
    using tools::Cause;
    tools::Suspect suspect;
    suspect.kind = tools::SuspectKind::FewRanks;
    suspect.pattern.kind = tools::PatternKind::Steady;
    tools::Evidence evidence;
    evidence.local_here = 1.02e6, evidence.local_there = 1e6;
    EXPECT_EQ(alternative_to(Cause::Imbalance, suspect, evidence), Cause::SlowMachine);
    EXPECT_EQ(alternative_to(Cause::SlowMachine, suspect, evidence), Cause::Imbalance);
    evidence.odds_of_one_factor = 1e-6;
    EXPECT_EQ(alternative_to(Cause::Imbalance, suspect, evidence), std::nullopt) << "no factor fits";
    evidence.odds_of_one_factor = 1e6;
    EXPECT_EQ(alternative_to(Cause::SlowMachine, suspect, evidence), std::nullopt) << "no function has it";
    evidence.odds_of_one_factor = 1;
    evidence.instructions_here = evidence.instructions_there = 3e6;
    EXPECT_EQ(alternative_to(Cause::SlowMachine, suspect, evidence), std::nullopt) << "instructions tell";
    evidence.instructions_here = evidence.instructions_there = 0;
    evidence.off_cpu = 0.3 * evidence.excess();
    EXPECT_EQ(alternative_to(Cause::Imbalance, suspect, evidence), std::nullopt) << "sleep is neither";
    evidence.off_cpu = 0;
    evidence.function = {1, 5e5, 4.8e5, 1e3, 1e6, false};
    EXPECT_EQ(alternative_to(Cause::Imbalance, suspect, evidence), std::nullopt) << "a function has it, beyond its error";
    evidence.function = {};
    suspect.pattern.kind = tools::PatternKind::Growing;
    EXPECT_EQ(alternative_to(Cause::Imbalance, suspect, evidence), std::nullopt) << "a slow processor is always slow";
}

/// Two ranks with so few samples that no function tells anything.
TEST(GroundTruth, ARankThatIsSlowByLittleIsNotBlamedOnItsWorkAlone) {
    using tools::Cause;
    std::size_t found = 0, open = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        LostRun run({2, 400, "normal", {"slow"}, 0.02, seed});
        const tools::DiagnosedRun told = diagnose(LostProfile(run).read());
        for (const tools::Diagnosis& d : told.list) {
            if (d.ranks != run.planted()[0].ranks) continue;
            ++found;
            const bool says_it = d.sentence.find("or a slower processor") != std::string::npos;
            EXPECT_EQ(says_it, d.alternative == Cause::SlowMachine) << d.sentence;
            EXPECT_TRUE(d.cause == Cause::SlowMachine || d.alternative == Cause::SlowMachine) << d.sentence;
            open += d.alternative.has_value();
        }
    }
    EXPECT_GE(found, 5u);
    EXPECT_GE(open, 1u) << "the runs have too many samples to leave anything open";
}

/// As if its iterations were of one kind. With a trace, which has the times of its samples.
tools::Profile with_one_pool(const LostRun& run, bool has_trace) {
    constexpr double sample_ns = 5e6;
    tools::Profile profile = LostProfile(run).read();
    std::map<std::string, std::uint32_t> path_of;
    for (std::uint32_t p = 0; p < profile.paths.size(); ++p)
        if (profile.paths[p].kind == NodeKind::Frame) path_of[profile.sites[profile.paths[p].target].name.function] = p;
    for (tools::Location& location : profile.locations) {
        const auto steps =
            std::find_if(location.phases.begin(), location.phases.end(), [](const tools::PhaseData& d) { return d.cluster_of_iteration.size() > 1; });
        if (steps == location.phases.end()) continue;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sums; // by path and metric
        for (const tools::Cluster& cluster : steps->clusters)
            for (const tools::Cell& cell : cluster.cells) sums[{cell.path, cell.metric}] += cell.value;
        tools::Cluster all{run.iterations(), 0, {}};
        for (const auto& [of, value] : sums) all.cells.push_back({of.first, of.second, value});
        steps->clusters = {all};
        steps->cluster_of_iteration.assign(run.iterations(), 0);
        for (std::size_t p = 1; p < steps->pools.size(); ++p) steps->pools[0].samples += steps->pools[p].samples;
        steps->pools.resize(1);
        steps->pool_of_cluster = {0, 1}; // nothing in the rest
        double begin = 1e6, left = sample_ns / 2;
        for (std::size_t i = 0; i < run.iterations(); ++i) {
            double at = begin;
            steps->iteration_begin_ns.push_back(static_cast<std::uint64_t>(begin));
            for (const auto& [work, name] : {std::pair(Work::Assemble, "assemble"), std::pair(Work::Solve, "solve"), std::pair(Work::Update, "update"),
                                             std::pair(Work::Refine, "refine")}) {
                const double end = at + run.at(work, location.rank, i);
                for (; has_trace && at + left < end; left = sample_ns)
                    location.trace.samples.push_back({static_cast<std::uint64_t>(at += left), path_of[name]});
                left -= end - at;
                at = end;
            }
            begin += static_cast<double>(steps->iteration_ns[i]);
        }
    }
    return profile;
}

TEST(GroundTruth, TimesOfSamplesTellTheFunctionWhoseWorkGrows) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const LostRun run({4, 600, "normal", {"growth"}, 0.2, seed});
        for (const bool has_trace : {false, true}) {
            const tools::DiagnosedRun told = diagnose(with_one_pool(run, has_trace));
            ASSERT_EQ(told.list.size(), 1u) << seed;
            EXPECT_EQ(told.list[0].cause, tools::Cause::GrowingWork) << told.list[0].sentence;
            EXPECT_EQ(told.list[0].function.find("refine") != std::string::npos, has_trace) << told.list[0].sentence;
            const bool names_the_option = fmt::format("{}", fmt::join(told.list[0].evidence, " ")).find("LIBPROFILE_TRACE=1") != std::string::npos;
            EXPECT_NE(names_the_option, has_trace);
        }
    }
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
