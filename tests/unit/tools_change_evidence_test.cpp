// What speaks for a change of the program in a part of two runs: of times by function, calls and bytes that were made up.
#include "tools/comparison/change_evidence.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace libprofile::tools {
namespace {

constexpr double sample_ns = 5e6;

/// A function that takes so long in each run, known by samples of both.
ActivityChange function(double before, double after) {
    ActivityChange one;
    one.activity.name = "f";
    one.change = one.there = {before, after, 1.96 * std::sqrt(sample_ns * (before + after))};
    return one;
}

ActivityChange call(const char* name, Change time, Change visits, Change bytes = {}) {
    ActivityChange one;
    one.activity.name = name;
    one.activity.use = TimeUse::Waiting;
    one.change = one.there = time;
    one.visits = visits;
    one.bytes = bytes;
    return one;
}

GroupComparison comparison(std::vector<ActivityChange> rows, const std::vector<ActivityChange>& calls = {}) {
    GroupComparison result;
    result.ranks_before = result.ranks_after = 4;
    rows.insert(rows.end(), calls.begin(), calls.end());
    for (const ActivityChange& one : rows) result.mean.before += one.change.before, result.mean.after += one.change.after;
    result.activities = std::move(rows);
    return result;
}

ChangeEvidence found(const GroupComparison& comparison) { return evidence_of(comparison, sample_ns); }

TEST(ChangeEvidence, AFunctionThatIsSlowerThanTheOthersIsOne) {
    EXPECT_EQ(found(comparison({function(1e10, 1.2e10), function(8e9, 8e9), function(2e9, 2e9)})), ChangeEvidence::Functions);
    EXPECT_EQ(found(comparison({function(1.2e10, 1e10), function(8e9, 8e9), function(2e9, 2e9)})), ChangeEvidence::Functions) << "faster";
    EXPECT_EQ(found(comparison({function(5e9, 5e9), function(4e9, 4e9), function(0, 3e8)})), ChangeEvidence::Functions) << "a new one";
}

TEST(ChangeEvidence, FunctionsThatAreSlowerAlikeAreNone) {
    for (const double times : {0.5, 0.9, 1.1, 2.0})
        EXPECT_EQ(found(comparison({function(5e9, times * 5e9), function(4e9, times * 4e9), function(1e9, times * 1e9)})), ChangeEvidence::None) << times;
    EXPECT_EQ(found(comparison({function(5e11, 9.5e11), function(4e11, 6e11), function(1e11, 1.5e11)})), ChangeEvidence::None)
        << "some of them surely more than others, as where memory is shared";
}

TEST(ChangeEvidence, FunctionsThatOnlyOneRunHasAreOne) {
    EXPECT_EQ(found(comparison({function(5e9, 0), function(0, 2e9)})), ChangeEvidence::Functions) << "another kernel";
    EXPECT_EQ(found(comparison({function(5e9, 0), function(3e9, 0), function(0, 9e9), function(0, 1e9)})), ChangeEvidence::Functions) << "another program";
    EXPECT_EQ(found(comparison({function(2.8e8, 0), function(1.6e8, 0), function(1e8, 0), function(0, 5e7)})), ChangeEvidence::Functions)
        << "of which few samples tell";
}

TEST(ChangeEvidence, CountedInstructionsAreOne) {
    const GroupComparison alike = comparison({function(5e9, 7e9), function(4e9, 5.6e9)});
    const auto with = [&](Change instructions) { return evidence_of(alike, sample_ns, {9e9, 12.6e9}, instructions); };
    EXPECT_EQ(with({1e6, 1.4e6}), ChangeEvidence::Instructions);
    EXPECT_EQ(with({1e6, 1.01e6}), ChangeEvidence::None) << "hardly more";
    EXPECT_EQ(with({1e6, 0.6e6}), ChangeEvidence::None) << "fewer";
    EXPECT_EQ(with({0, 0}), ChangeEvidence::None) << "not counted";
}

TEST(ChangeEvidence, FewSamplesAreNone) {
    EXPECT_EQ(found(comparison({function(5e7, 6e7), function(5e7, 5e7)})), ChangeEvidence::None);
    EXPECT_EQ(found(comparison({function(5e9, 5e9), function(0, 2e7)})), ChangeEvidence::None) << "four samples in a new function";
    ActivityChange sure = function(5e7, 9e7);
    sure.change.error = 1e6; // as others of their kind are known
    EXPECT_EQ(evidence_of(comparison({sure, function(5e7, 5e7)}), 4 * sample_ns), ChangeEvidence::None) << "of these iterations there are 7 samples";
}

TEST(ChangeEvidence, WhatAFunctionHasMustBeAPartOfTheDifference) {
    std::vector<ActivityChange> functions = {function(5e9, 5e9), function(0, 3e8)};
    functions.back().ranks = {1};
    functions.back().there = {0, 12e8};
    EXPECT_EQ(found(comparison(functions, {call("MPI_Allreduce", {0, 9e8}, {100, 100})})), ChangeEvidence::Functions) << "the others wait";
    EXPECT_EQ(found(comparison(functions, {call("MPI_Allreduce", {0, 9e9}, {100, 100})})), ChangeEvidence::None);
}

TEST(ChangeEvidence, OtherCallsAndBytesAreOne) {
    const std::vector<ActivityChange> functions = {function(5e9, 5e9)};
    EXPECT_EQ(found(comparison(functions, {call("MPI_Gather", {0, 1e8}, {0, 50})})), ChangeEvidence::Calls) << "a new call";
    EXPECT_EQ(found(comparison(functions, {call("MPI_Gather", {1e8, 0}, {50, 0})})), ChangeEvidence::Calls) << "that is gone";
    EXPECT_EQ(found(comparison(functions, {call("MPI_Gather", {1e8, 2e8}, {50, 100})})), ChangeEvidence::Calls) << "more often";
    EXPECT_EQ(found(comparison(functions, {call("MPI_Gather", {1e8, 2e8}, {50, 50}, {1e6, 2e6})})), ChangeEvidence::Calls) << "more bytes";
    EXPECT_EQ(found(comparison(functions, {call("MPI_Gather", {1e8, 2e8}, {50, 50}, {1e6, 1e6})})), ChangeEvidence::None) << "only waits";
    EXPECT_EQ(found(comparison(functions, {call("MPI_Gather", {1e8, 9e8}, {500, 500}, {1e6, 1.006e6})})), ChangeEvidence::None) << "hardly more";
    EXPECT_EQ(found(comparison(functions, {call("MPI_Test", {1e8, 2e8}, {500, 9000})})), ChangeEvidence::None) << "polls are chance";
}

} // namespace
} // namespace libprofile::tools
