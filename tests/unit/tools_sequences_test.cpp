// Sequences of events in profiles: what the reader makes of them, and what it refuses.
#include "tests/unit/tools_nested_profile.hpp"
#include "tools/report/json_sequences.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using test::ProfileBuilder;
using BuiltSequence = ProfileBuilder::BuiltSequence;

/// Six iterations of "timestep", which is phase 1; node 3 is a call of MPI.
Profile with_orders(const SequencesRecord& record, const std::vector<BuiltSequence>& sequences, const std::vector<std::uint32_t>& six_numbers) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    test::add_sample_rank(b, 0);
    b.sequences(0, record, sequences, six_numbers);
    return test::read_one(b.bytes());
}

const std::vector<BuiltSequence> two_orders = {{{{11, 12}, 4, SequenceHasTimeline}, {{2 * 3, 0, 1, 400, 150, 80, 30}, {2 * 3, 0, 7, 4000, 1500, 800, 300}}},
                                               {{{13, 14}, 1, 0}, {}}};
const std::vector<std::uint32_t> six_numbers = {1, 1, 0, 2, 1, 1};

const PhaseData& steps_of(const Profile& p) { return test::phase_of(p, "timestep"); }

} // namespace

TEST(Sequences, EachIterationHasItsOwnAndEachTimelineItsMeans) {
    const Profile p = with_orders({0, 1, 6, 1, 1}, two_orders, six_numbers);
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
    ASSERT_TRUE(steps_of(p).sequences);
    const SequencesData& data = *steps_of(p).sequences;
    EXPECT_EQ(data.number_of_iteration, six_numbers);
    EXPECT_EQ(data.of_iteration(3), 1u);
    EXPECT_EQ(data.of_iteration(2), std::nullopt);
    EXPECT_EQ(data.of_iteration(6), std::nullopt);
    EXPECT_EQ(data.unknown(6), 1u);
    ASSERT_EQ(data.sequences.size(), 2u);
    const EventSequence& first = data.sequences[0];
    ASSERT_EQ(first.events.size(), 2u);
    EXPECT_EQ(p.paths[first.events[0].path].kind, NodeKind::Mpi);
    EXPECT_EQ(first.mean_begin(first.events[0]), 100);
    EXPECT_EQ(first.mean_length(first.events[1]), 200);
    EXPECT_EQ(first.events[1].count, 7u);
    EXPECT_FALSE(data.sequences[1].has_timeline);
}

TEST(Sequences, IterationsAfterTheLastKnownOneHaveNone) {
    const Profile p = with_orders({0, 1, 2, 0, 0}, two_orders, {1, 2});
    ASSERT_TRUE(steps_of(p).sequences);
    EXPECT_EQ(steps_of(p).sequences->unknown(6), 4u);
    EXPECT_EQ(steps_of(p).sequences->of_iteration(1), 1u);
    EXPECT_EQ(steps_of(p).sequences->of_iteration(2), std::nullopt);
}

TEST(Sequences, WhatDoesNotFitToThePhaseIsLostAloud) {
    std::vector<BuiltSequence> beyond = two_orders;
    beyond[0].events[0].what = 2 * 999;
    EXPECT_FALSE(steps_of(with_orders({0, 1, 7, 0, 0}, two_orders, {1, 1, 0, 2, 1, 1, 1})).sequences) << "more iterations than there are";
    EXPECT_FALSE(steps_of(with_orders({0, 1, 6, 0, 0}, two_orders, {1, 1, 3, 1, 1, 1})).sequences) << "a number without a sequence";
    EXPECT_FALSE(steps_of(with_orders({0, 1, 6, 0, 0}, beyond, six_numbers)).sequences) << "a call path that is not there";
    EXPECT_FALSE(with_orders({0, 1, 7, 0, 0}, two_orders, {1, 1, 0, 2, 1, 1, 1}).notes.empty());
    for (const std::uint64_t many : {std::uint64_t{1} << 40, ~std::uint64_t{0}})
        EXPECT_FALSE(steps_of(with_orders({0, 1, many, 0, 0}, two_orders, six_numbers)).sequences);
}

TEST(Sequences, AnIterationInsideRefersToASequenceOfItsPhase) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    test::add_sample_rank(b, 0);
    test::BuiltPhase inner = test::iterated("sweep", {1}, {1}, 3);
    inner.wall_ns = inner.wall_inclusive_ns = 0;
    inner.clusters = {{1, 0, {}}};
    inner.iteration_ns = {0};
    b.phase(0, inner);
    b.sequences(0, {0, 2, 1, 0, 0}, {two_orders[0]}, {1});
    std::vector<BuiltSequence> outer = {
        {{{1, 2}, 6, SequenceHasTimeline}, {{2 * 2 + 1, 1, 1, 0, 0, 0, 0}, {2 * 2 + 1, 9, 2, 0, 0, 0, 0}, {2 * 77 + 1, 0, 1, 0, 0, 0, 0}}}};
    b.sequences(0, {0, 1, 6, 0, 0}, outer, {1, 1, 1, 1, 1, 1});
    const Profile p = test::read_one(b.bytes());
    ASSERT_TRUE(steps_of(p).sequences);
    const std::vector<SequenceEvent>& events = steps_of(p).sequences->sequences[0].events;
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(p.phases[events[0].phase].name, "sweep");
    EXPECT_EQ(events[0].sequence, 0u);
    EXPECT_EQ(events[1].sequence, SequenceEvent::none) << "that phase has no ninth one";
    EXPECT_EQ(events[2].phase, SequenceEvent::none);
    const auto json = sequences_json(p, steps_of(p), true);
    EXPECT_EQ(json["timelines"][0]["timeline"][0]["phase"], "sweep");
    EXPECT_EQ(json["iterations_without"], 0);
}

} // namespace libprofile::tools
