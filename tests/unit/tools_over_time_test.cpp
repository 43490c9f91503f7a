// Pairs of runs of which it is known in which iterations one is slower, and why.
#include "tests/unit/tools_lost_profile.hpp"
#include "tools/comparison/change_class.hpp"
#include "tools/comparison/difference_levels.hpp"
#include "tools/comparison/over_time.hpp"
#include "tools/comparison/over_time_words.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <tuple>

namespace libprofile::tools {
namespace {

using test::LostProfile;
using test::LostRun;
using test::LostRunChoice;

struct Pair {
    Profile before, after;
    std::vector<ProfiledGroup> groups() const { return {{"old", {{"old", &before}}}, {"new", {{"new", &after}}}}; }
};

Profile profile_of(const LostRunChoice& choice) { return LostProfile(LostRun(choice)).read(); }

/// The segment with the largest difference; null: none is a change.
const SegmentChange* largest(const GroupOverTime& one) {
    const SegmentChange* best = nullptr;
    for (const SegmentChange& segment : one.segments)
        if (segment.is_change && (best == nullptr || std::abs(segment.total()) > std::abs(best->total()))) best = &segment;
    return best;
}

TEST(RunsOverTime, TheSegmentTheFunctionAndTheRanksOfARegressionAreFound) {
    std::size_t all = 0, found = 0;
    for (const char* cause : {"range", "changed", "steady", "volume"})
        for (const std::size_t ranks : {2, 8, 32})
            for (std::uint64_t seed = 1; seed <= (ranks == 32 ? 1 : 5); ++seed) { // large ones take their time under sanitizers
                const std::size_t n = 400;
                LostRunChoice choice{ranks, n, "normal", {cause}, 0.05, seed};
                const LostRun lost(choice);
                choice.causes.clear();
                choice.seed = seed + 100;
                const Pair pair{profile_of(choice), LostProfile(lost).read()};
                const RunsOverTime result = compare_over_time(pair.groups(), {}, {});
                ++all;
                const SegmentChange* segment = largest(result.groups.front());
                if (segment == nullptr) continue;
                const test::PlantedCause& truth = lost.planted().front();
                std::size_t both = 0, either = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    const bool planted = truth.iterations.empty() || truth.iterations[i], is_in = i >= segment->before.first && i <= segment->before.last;
                    both += planted && is_in;
                    either += planted || is_in;
                }
                // What the screen says of the segment.
                const OverTimeWords words = words_of(result, result.groups.front(), pair.groups());
                const auto number =
                    static_cast<std::size_t>(std::count_if(result.groups.front().segments.data(), segment, [](const auto& s) { return s.is_change; }));
                const std::vector<DifferenceLine>& lines = words.segments.at(number).lines;
                const std::string who =
                    truth.ranks.empty() ? "" : "on " + rank_words(std::vector<std::uint64_t>(truth.ranks.begin(), truth.ranks.end())) + ": ";
                const bool is_named = std::any_of(lines.begin(), lines.end(), [&](const DifferenceLine& line) {
                    return line.amount.starts_with('+') && line.text.starts_with(who + truth.function);
                });
                const bool is_right = static_cast<double>(both) >= 0.9 * static_cast<double>(either) && is_named;
                found += is_right;
                if (!is_right) ADD_FAILURE_AT(__FILE__, __LINE__) << cause << ", " << ranks << " ranks, seed " << seed << ": " << both << " of " << either;
            }
    EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(all));
}

TEST(RunsOverTime, EqualRunsDoNotDiffer) {
    std::size_t alarms = 0;
    for (const char* jitter : {"normal", "exponential", "drift", "ranks", "bursts"})
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const LostRunChoice choice{8, 400, jitter, {}, 0, seed};
            LostRunChoice other = choice;
            other.seed += 50;
            const Pair pair{profile_of(choice), profile_of(other)};
            const RunsOverTime result = compare_over_time(pair.groups(), {}, {});
            alarms += largest(result.groups.front()) != nullptr;
            EXPECT_EQ(result.groups.front().alignment.by, AlignBy::Structure);
            EXPECT_EQ(result.groups.front().alignment.different, 0u);
        }
    EXPECT_LE(alarms, 1u);
}

/// What is told of two groups of runs.
struct Told {
    std::size_t slower = 0, faster = 0, disturbances = 0;
    ChangeEvidence evidence = ChangeEvidence::None; // of the largest change
    std::string words;
};

Told told_of(const std::vector<ProfiledGroup>& groups) {
    const RunsOverTime result = compare_over_time(groups, {}, {});
    const GroupOverTime& one = result.groups.front();
    Told told;
    for (const SegmentChange& segment : one.segments) {
        told.slower += segment.is_change && segment.total() > 0;
        told.faster += segment.is_change && segment.total() < 0;
        told.disturbances += segment.is_disturbance;
        EXPECT_FALSE(segment.is_change && segment.is_disturbance);
    }
    if (const SegmentChange* segment = largest(one)) told.evidence = segment->evidence;
    const OverTimeWords words = words_of(result, one, groups);
    for (const std::string& remark : words.remarks) told.words += remark + '\n';
    for (const SegmentWords& segment : words.segments)
        for (const DifferenceLine& line : segment.lines) told.words += line.text + '\n';
    return told;
}

Profile run_with(const char* cause, std::uint64_t seed) { return profile_of({8, 400, "normal", {cause}, 0.05, seed}); }

TEST(RunsOverTime, AProcessorThatIsSlowerForAWhileIsNoChangeOfSingleRuns) {
    const Profile slow = run_with("slow_range", 2), slow_again = run_with("slow_range", 2), none = profile_of({8, 400, "normal", {}, 0, 3}),
                  none_again = profile_of({8, 400, "normal", {}, 0, 4});
    for (const bool is_first : {false, true}) { // slower and faster
        const Profile &a = is_first ? slow : none, &b = is_first ? none : slow;
        const Told told = told_of({{"old", {{"old", &a}}}, {"new", {{"new", &b}}}});
        EXPECT_EQ(std::tuple(told.slower, told.faster), std::tuple(0u, 0u)) << told.words;
        EXPECT_GE(told.disturbances, 1u);
        EXPECT_NE(told.words.find("not told: neither other calls nor single functions"), std::string::npos) << told.words;
    }
    const Told repeated = told_of({{"old", {{"old", &none}, {"old", &none_again}}}, {"new", {{"new", &slow}, {"new", &slow_again}}}});
    EXPECT_EQ(std::tuple(repeated.slower, repeated.faster, repeated.disturbances), std::tuple(1u, 0u, 0u)) << "repetitions tell it: " << repeated.words;
}

TEST(RunsOverTime, WhatIsSlowerAlikeFromAStepOnIsTold) {
    const Profile none = profile_of({8, 400, "normal", {}, 0, 1}), slow = run_with("slow_end", 2);
    const Told told = told_of({{"old", {{"old", &none}}}, {"new", {{"new", &slow}}}});
    EXPECT_EQ(std::tuple(told.slower, told.faster, told.disturbances), std::tuple(1u, 0u, 0u));
    EXPECT_EQ(told.evidence, ChangeEvidence::None);
    EXPECT_NE(told.words.find("samples do not tell whether some functions differ, or all"), std::string::npos) << told.words;
}

TEST(RunsOverTime, ChangesOfTheProgramAreToldInBothDirections) {
    const Profile range = run_with("range", 1), volume = run_with("volume", 3);
    const Told told = told_of({{"old", {{"old", &range}}}, {"new", {{"new", &volume}}}});
    EXPECT_EQ(std::tuple(told.slower, told.faster, told.disturbances), std::tuple(1u, 1u, 0u)) << told.words;
    EXPECT_NE(told.evidence, ChangeEvidence::None);
    EXPECT_EQ(told.words.find("not told"), std::string::npos) << told.words;
}

TEST(RunsOverTime, MoreBytesAreWorkAndASlowerFunctionIsNot) {
    const Pair pair{profile_of({8, 400, "normal", {}, 0, 1}), profile_of({8, 400, "normal", {"volume"}, 0.05, 2})};
    const RunsOverTime result = compare_over_time(pair.groups(), {}, {});
    const SegmentChange* segment = largest(result.groups.front());
    ASSERT_NE(segment, nullptr);
    const ActivityChange& first = segment->comparison.groups.front().activities.front();
    EXPECT_EQ(first.activity.name, "MPI_Sendrecv");
    EXPECT_GT(first.bytes.after, 1.5 * first.bytes.before);
    EXPECT_NEAR(static_cast<double>(segment->before.first), 200, 3);
}

TEST(RunsOverTime, PartsOfTheDifferenceAddUpToTheWhole) {
    const Pair pair{profile_of({4, 300, "normal", {}, 0, 1}), profile_of({4, 300, "normal", {"range"}, 0.1, 2})};
    const GroupOverTime one = std::move(compare_over_time(pair.groups(), {}, {}).groups.front());
    double sum = 0;
    std::uint64_t pairs = 0;
    for (const SegmentChange& segment : one.segments) {
        sum += segment.total();
        pairs += segment.pairs;
        if (!segment.is_change) continue;
        const GroupComparison& inside = segment.comparison.groups.front();
        EXPECT_NEAR(inside.mean.difference(), segment.total(), 1e-6 * inside.mean.before) << "functions of the segment";
    }
    EXPECT_EQ(pairs, 300u);
    EXPECT_NEAR(sum, one.iterations.difference(), 1e-5 * one.iterations.before);
}

TEST(DifferenceLevels, AreCutWhereTheDifferenceChanges) {
    std::mt19937 random(1);
    std::normal_distribution<float> noise(0, 3e4f);
    std::vector<float> differences;
    for (std::size_t i = 0; i < 600; ++i) differences.push_back(noise(random) + (i >= 200 && i < 350 ? 1e5f : 0));
    const std::vector<DifferenceLevel> levels = difference_levels(differences, 1e6, 0.03, 6);
    ASSERT_EQ(levels.size(), 3u);
    EXPECT_NEAR(static_cast<double>(levels[1].first), 200, 3);
    EXPECT_NEAR(static_cast<double>(levels[1].last), 349, 3);
    EXPECT_TRUE(levels[1].is_change);
    EXPECT_NEAR(levels[1].mean, 1e5, levels[1].error * 2);
    EXPECT_FALSE(levels[0].is_change);
    EXPECT_FALSE(levels[2].is_change);
}

TEST(DifferenceLevels, WhatComesNowAndThenIsAChangeOfTheWhole) {
    std::vector<float> differences(500);
    for (std::size_t i = 0; i < 500; i += 20) differences[i] = 2e6f; // 10 % more, in every 20th iteration
    const std::vector<DifferenceLevel> levels = difference_levels(differences, 1e6, 0.03, 6);
    ASSERT_EQ(levels.size(), 1u);
    EXPECT_TRUE(levels[0].is_change);
    EXPECT_NEAR(levels[0].mean, 1e5, 1);
}

TEST(DifferenceLevels, WhatComesNowAndThenFromSomeIterationOnIsFoundThere) {
    std::mt19937 random(2);
    std::normal_distribution<float> noise(0, 5e4f);
    std::vector<float> differences;
    for (std::size_t i = 0; i < 2000; ++i) differences.push_back(noise(random) + (i >= 1200 && i % 10 == 0 ? 2e6f : 0));
    const std::vector<DifferenceLevel> levels = difference_levels(differences, 1e6, 0.03, 6);
    ASSERT_EQ(levels.size(), 2u);
    EXPECT_NEAR(static_cast<double>(levels[1].first), 1200, 15);
    EXPECT_TRUE(levels[1].is_change);
    EXPECT_FALSE(levels[0].is_change);
}

TEST(DifferenceLevels, OneSlowIterationIsChance) {
    std::vector<float> differences(500);
    differences[77] = 1e8f; // 20 % of everything
    for (const DifferenceLevel& level : difference_levels(differences, 1e6, 0.03, 6)) EXPECT_FALSE(level.is_change) << level.first;
}

} // namespace
} // namespace libprofile::tools
