#include "tests/unit/tools_recording_builder.hpp"
#include "tools/evaluation/evaluation.hpp"
#include "tools/evaluation/recording.hpp"
#include "tools/evaluation/reference_method.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace libprofile::tools {

namespace {

using namespace test;

Recording example_recording() { return extract_recording(job_of({full(example, example_classes)})); }

Candidate reference(std::uint32_t clusters, EquivalenceChoice mode) {
    auto memory = std::make_shared<ReplayMemory>();
    return {std::to_string(clusters), clusters, true, reference_factory(memory, clusters, mode), reference_factory(memory, clusters, EquivalenceChoice::None)};
}

Score score_of(const Recording& recording, std::uint32_t clusters, EquivalenceChoice mode) {
    return evaluate(recording, {reference(clusters, mode)}).scores.at(0);
}

std::vector<std::vector<std::uint32_t>> members(const Recording& recording, std::uint32_t clusters, EquivalenceChoice mode) {
    ReferenceMethod method(std::make_shared<ReplayMemory>(), recording, clusters, mode);
    for (const RecordedIteration& iteration : recording.locations[0].iterations) method.add(iteration);
    method.finish();
    std::map<std::uint32_t, std::vector<std::uint32_t>> sets;
    for (std::uint32_t i = 0; i < method.membership().size(); ++i) sets[method.membership()[i]].push_back(i);
    std::vector<std::vector<std::uint32_t>> result;
    for (const auto& [cluster, set] : sets) result.push_back(set);
    std::sort(result.begin(), result.end());
    return result;
}

using Sets = std::vector<std::vector<std::uint32_t>>;

std::uint64_t messages(const Profile& profile, const std::string& phase, std::string& text) {
    try {
        extract_recording(profile, phase);
    } catch (const NotRecordedInFull& error) {
        text = error.what();
        return 1;
    }
    return 0;
}

} // namespace

TEST(Evaluate, HandComputedClustersUnderStrongEquivalence) {
    // Iterations 0, 1 and 3 are in one class, so they share the cluster that iteration 2 leaves.
    EXPECT_EQ(members(example_recording(), 2, EquivalenceChoice::Strong), (Sets{{0, 1, 3}, {2}}));
}

TEST(Evaluate, HandComputedClustersWithoutEquivalence) {
    // Condensed values (total, execution, overhead, MPI = MPI communication, point-to-point, collective, visits):
    //   0: 114 110 4 10 10 0 1   1: 120 116 4 12 12 0 1   2: 154 150 4 50 20 30 3   3: 1204 1200 4 200 200 0 1
    // With iteration 2, averages are 388/3, 376/3, 4, 24, 14, 10, 5/3:
    //   d(0,1) = 6*3/388 + 6*3/376 + 2*2/24 + 2/14 = 0.40; d(1,2) = 34*3/388 + 34*3/376 + 2*38/24 + 8/14 + 3 + 6/5 = 8.47
    // so 0 and 1 merge: means 117 113 4 11 11 0 1, and the distance of {0,1} and 2 is
    //   (37*3/388 + 37*3/376 + 2*39/24 + 9/14 + 3 + 6/5) * 4/3 = 11.57
    // With iteration 3, averages are 398, 394, 4, 68, 60.5, 7.5, 1.5:
    //   d(3,{0,1}) = (1087/398 + 1087/394 + 2*189/68 + 189/60.5) * 4/3 = 18.9
    //   d(3,2) = 1050/398 + 1050/394 + 2*150/68 + 180/60.5 + 4 + 2/1.5 = 18.0
    // so {0,1} and 2 merge.
    EXPECT_EQ(members(example_recording(), 2, EquivalenceChoice::None), (Sets{{0, 1, 2}, {3}}));
}

TEST(Evaluate, HandComputedReconstruction) {
    const Recording recording = example_recording();
    ReferenceMethod method(std::make_shared<ReplayMemory>(), recording, 2, EquivalenceChoice::Strong);
    for (const RecordedIteration& iteration : recording.locations[0].iterations) method.add(iteration);
    method.finish();
    // Means of 0, 1 and 3: solve (100 + 104 + 1000) / 3, Send (10 + 12 + 200) / 3 = 74, one visit, overhead 4.
    for (const std::size_t i : {0u, 1u, 3u}) {
        const ReconstructedCells cells = method.cells_of(i);
        std::vector<double> values;
        for (const auto& [key, value] : cells) values.push_back(value);
        std::sort(values.begin(), values.end());
        ASSERT_EQ(values.size(), 4u);
        EXPECT_DOUBLE_EQ(values[0], 1);
        EXPECT_DOUBLE_EQ(values[1], 4);
        EXPECT_DOUBLE_EQ(values[2], 74);
        EXPECT_DOUBLE_EQ(values[3], 1204.0 / 3);
    }
    const ReconstructedCells alone = method.cells_of(2);
    ASSERT_EQ(alone.size(), recording.locations[0].iterations[2].cells.size());
    for (std::size_t c = 0; c < alone.size(); ++c) {
        EXPECT_EQ(alone[c].first, recording.locations[0].iterations[2].cells[c].key);
        EXPECT_EQ(alone[c].second, static_cast<double>(recording.locations[0].iterations[2].cells[c].value));
    }
    EXPECT_DOUBLE_EQ(method.whole_of(0)[static_cast<std::size_t>(CatalogueId::Total)], (114.0 + 120 + 1204) / 3);
    EXPECT_DOUBLE_EQ(method.whole_of(2)[static_cast<std::size_t>(CatalogueId::Total)], 154);
}

TEST(Evaluate, HandComputedPhantoms) {
    const Score score = score_of(example_recording(), 2, EquivalenceChoice::Strong);
    // Three iterations of solve and Send, one of solve, Send and Allreduce; none is new.
    EXPECT_EQ(score.phantoms.pairs, 9u);
    EXPECT_EQ(score.phantoms.phantoms, 0u);
    EXPECT_EQ(score.phantoms.mpi_pairs, 5u);
    // Without equivalence 0, 1 and 2 are one cluster: three paths in three iterations, two in one; Allreduce is a phantom
    // in 0 and in 1.
    ASSERT_TRUE(score.phantoms_without_equivalence.has_value());
    const Phantoms& none = *score.phantoms_without_equivalence;
    EXPECT_EQ(none.pairs, 11u);
    EXPECT_EQ(none.phantoms, 2u);
    EXPECT_EQ(none.mpi_pairs, 7u);
    EXPECT_EQ(none.mpi_phantoms, 2u);
    EXPECT_DOUBLE_EQ(none.share(), 2.0 / 11);
    EXPECT_DOUBLE_EQ(none.mpi_share(), 2.0 / 7);
}

TEST(Evaluate, HandComputedErrorsOfWholeIterations) {
    const WholeErrors errors = score_of(example_recording(), 2, EquivalenceChoice::Strong).whole;
    // Total: reconstructed 1438/3 in 0, 1 and 3: |1438/3 - 114| + |1438/3 - 120| + 0 + |1438/3 - 1204| = 4348/3, over the
    // sum 1592; execution has the same differences over 1576. MPI and communication: 64 + 62 + 0 + 126 = 252 over 272;
    // point-to-point the same over 242. Collective: 30 in its own cluster, no error. Overhead: none.
    const double total = 4348.0 / 3 / 1592, execution = 4348.0 / 3 / 1576, mpi = 252.0 / 272, p2p = 252.0 / 242;
    std::map<CatalogueId, double> by_metric;
    for (const MetricGraphError& m : errors.metrics) {
        by_metric[metric_catalogue[m.row].id] = m.error.of_mean;
        EXPECT_NEAR(m.error.of_maximum, m.error.of_mean, 1e-12); // one location
    }
    EXPECT_EQ(by_metric.size(), 8u);
    EXPECT_NEAR(by_metric[CatalogueId::Total], total, 1e-12);
    EXPECT_NEAR(by_metric[CatalogueId::Execution], execution, 1e-12);
    EXPECT_NEAR(by_metric[CatalogueId::Mpi], mpi, 1e-12);
    EXPECT_NEAR(by_metric[CatalogueId::MpiPointToPoint], p2p, 1e-12);
    EXPECT_EQ(by_metric[CatalogueId::MpiCollective], 0);
    // Total, overhead, execution, MPI, communication, point-to-point, collective.
    EXPECT_NEAR(errors.time.of_mean, (total + 0 + execution + mpi + mpi + p2p + 0) / 7, 1e-12);
    EXPECT_EQ(errors.count.of_mean, 0); // visits
}

TEST(Evaluate, HandComputedErrorsOfCallPathsAndTheirOrders) {
    const CellErrors errors = score_of(example_recording(), 2, EquivalenceChoice::Strong).cells;
    // The largest time of an MPI call path is 200. Send: |74 - 10|, |74 - 12|, 0, |74 - 200|; Allreduce: 0.
    EXPECT_EQ(errors.event_time.cells, 5u);
    EXPECT_NEAR(errors.event_time.mean(), (0.32 + 0.31 + 0.63) / 5, 1e-12);
    EXPECT_NEAR(errors.event_time.largest, 0.63, 1e-12);
    using Histogram = decltype(CellError::histogram);
    EXPECT_EQ(errors.event_time.histogram, (Histogram{2, 0, 0, 0, 0, 0, 0, 3}));
    EXPECT_DOUBLE_EQ(errors.event_time.share(7), 0.6);
    // Visits are those of the class.
    EXPECT_EQ(errors.event_count.cells, 5u);
    EXPECT_EQ(errors.event_count.largest, 0);
    EXPECT_EQ(errors.event_count.histogram, (Histogram{5, 0, 0, 0, 0, 0, 0, 0}));
    // solve: |1204/3 - 100|, |1204/3 - 104|, 0, |1204/3 - 1000|: 3592/3 in all; the cells of libprofile are not there.
    EXPECT_EQ(errors.sampled_time.cells, 4u);
    EXPECT_NEAR(errors.sampled_time.mean(), 3592.0 / 3 / 1000 / 4, 1e-12);
    EXPECT_EQ(errors.sampled_count.cells, 0u);
}

TEST(Evaluate, HandComputedMemory) {
    const Recording recording = example_recording();
    const MethodMemory memory = score_of(recording, 2, EquivalenceChoice::Strong).memory;
    // Cells {0,1,3}: solve, Send time and visits, overhead; {2}: Allreduce's two as well: 6 of events, 4 of others, 16 bytes
    // each. Membership 4 * 4 bytes, distances 2 * 2 / 2 * 4.
    EXPECT_EQ(memory.running_event_bytes, 6u * 16 + 16 + 8);
    EXPECT_EQ(memory.running_sampled_bytes, 4u * 16);
    // In the file a cell takes 3 bytes, 4 when its value is 128 or more: solve 1204 and Send 222 of {0,1,3}. Two cluster
    // records of 3 bytes; three runs of 2 bytes, and their number.
    EXPECT_EQ(memory.stored_event_bytes, (4u + 3) + 4 * 3 + 2 * 3 + 7);
    EXPECT_EQ(memory.stored_sampled_bytes, (4u + 3) + 2 * 3);
    // In full: 10 and 8 cells; solve 1000 and Send 200 take 4 bytes; four runs.
    const MethodMemory all = memory_of_recording(recording.paths, recording.locations[0]);
    EXPECT_EQ(all.running_event_bytes, 10u * 16 + 16);
    EXPECT_EQ(all.running_sampled_bytes, 8u * 16);
    EXPECT_EQ(all.stored_event_bytes, 10u * 3 + 1 + 4 * 3 + 9);
    EXPECT_EQ(all.stored_sampled_bytes, 8u * 3 + 1);
}

TEST(Evaluate, HandComputedCharacteristics) {
    const Characteristics c = characterise(example_recording());
    EXPECT_EQ(c.wall_ns, 114u + 120 + 154 + 1204);
    EXPECT_EQ(c.iterations.most, 4u);
    EXPECT_EQ(c.all.distinct, 3u);
    EXPECT_EQ(c.all.total, 9u);
    EXPECT_EQ(c.all.minimum, 2u);
    EXPECT_DOUBLE_EQ(c.all.average, 2.25);
    EXPECT_EQ(c.all.maximum, 3u);
    EXPECT_EQ(c.mpi.total, 5u);
    EXPECT_EQ(c.strong_classes.most, 2u);
    EXPECT_EQ(c.weak_classes.most, 2u);
}

TEST(Evaluate, AutoRelaxesAsTheRuntimeDoes) {
    // Two strong classes are more than half of K=2; the two weak ones are not more than K.
    const Score score = score_of(example_recording(), 2, EquivalenceChoice::Auto);
    EXPECT_EQ(score.remarks, std::vector<std::string>{"weak equivalence"});
    EXPECT_EQ(score.phantoms.mpi_phantoms, 0u);
}

TEST(Evaluate, WithAClusterForEveryIterationNothingIsLost) {
    const Score score = score_of(example_recording(), 4, EquivalenceChoice::Strong);
    EXPECT_EQ(score.cells.event_time.largest, 0);
    EXPECT_EQ(score.cells.sampled_time.largest, 0);
    EXPECT_EQ(score.whole.time.of_mean, 0);
    EXPECT_EQ(score.phantoms.phantoms, 0u);
}

TEST(Evaluate, PathsOfUnsuccessfulTestsMakeNoClass) {
    // The runtime put all three into one strong class, so the tests of the second one were unsuccessful.
    const std::vector<Iteration> polls = {{{Send, Metric::Visits, 1}}, {{Send, Metric::Visits, 1}, {Poll, Metric::Visits, 5}}, {{Send, Metric::Visits, 1}}};
    const Recording recording = extract_recording(job_of({full(polls, {0, 0, 0})}));
    EXPECT_EQ(recording.locations[0].weak_class, (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST(Evaluate, MeanAndMaximumAreOverTheLocationsThatHaveTheIteration) {
    // Rank 1 has one iteration only: Send 30.
    const std::vector<Iteration> two = {{{Send, Metric::Time, 10}, {Send, Metric::Visits, 1}}, {{Send, Metric::Time, 20}, {Send, Metric::Visits, 1}}};
    const std::vector<Iteration> one = {{{Send, Metric::Time, 30}, {Send, Metric::Visits, 1}}};
    const Recording recording = extract_recording(job_of({full(two, {0, 0}), full(one, {0})}));
    ASSERT_EQ(recording.locations.size(), 2u);
    EXPECT_EQ(recording.iterations(), 2u);
    const Score score = score_of(recording, 1, EquivalenceChoice::Strong);
    // Rank 0 becomes 15, 15. Means over ranks: 20, 20 become 22.5, 15; maxima: 30, 20 become 30, 15. Average 20.
    EXPECT_NEAR(score.whole.time.of_mean, (2.5 + 5) / 2 / 20, 1e-12);
    EXPECT_NEAR(score.whole.time.of_maximum, (0.0 + 5) / 2 / 20, 1e-12);
    const Characteristics c = characterise(recording);
    EXPECT_EQ(c.iterations.least, 1u);
    EXPECT_EQ(c.iterations.most, 2u);
    EXPECT_EQ(c.mpi.distinct, 1u);
    EXPECT_EQ(c.mpi.total, 2u); // the first iteration of both ranks is one
}

TEST(Evaluate, OneIterationIsKeptAsItIs) {
    const Recording recording = extract_recording(job_of({full({example[0]}, {0})}));
    const Score score = score_of(recording, 8, EquivalenceChoice::Auto);
    EXPECT_EQ(score.cells.event_time.cells, 1u);
    EXPECT_EQ(score.cells.event_time.largest, 0);
    EXPECT_EQ(score.memory.running_event_bytes, 2u * 16 + 4);
    EXPECT_GT(score.time.mean_ns, 0);
}

TEST(Evaluate, RanksThatNeverEnteredThePhaseAreNamed) {
    const Recording recording = extract_recording(job_of({full(example, example_classes)}, 3));
    EXPECT_EQ(recording.locations.size(), 1u);
    ASSERT_EQ(recording.notes.size(), 1u);
    EXPECT_NE(recording.notes[0].find("2 of 3 ranks"), std::string::npos) << recording.notes[0];
    EXPECT_EQ(score_of(recording, 2, EquivalenceChoice::Strong).cells.event_time.cells, 5u);
}

TEST(Evaluate, AClusteredProfileSaysHowToRecordInFull) {
    const auto bytes = test::sample_file(2);
    const NamedBytes file{"profile.lprof", Bytes(bytes)};
    std::string text;
    ASSERT_EQ(messages(read_profile(std::span(&file, 1)), "", text), 1u);
    EXPECT_NE(text.find("LIBPROFILE_"), std::string::npos) << text;
    BuiltPhase merged = full(example, example_classes);
    merged.clusters.erase(merged.clusters.begin());
    merged.clusters[0].size = 2;
    merged.cluster_of_iteration = {0, 0, 1, 2};
    ASSERT_EQ(messages(job_of({merged}), "", text), 1u);
    EXPECT_NE(text.find("LIBPROFILE_CLUSTERS=off"), std::string::npos) << text;
}

TEST(Evaluate, CountersThatAreNotPairedAreNoMoreThanThereMayBe) {
    const Recording recording = extract_recording(job_of({full(example, example_classes)}, 1, counters_with("xegion_")));
    EXPECT_LE(recording.counters, most_counters);
    EXPECT_EQ(score_of(recording, 2, EquivalenceChoice::Strong).cells.event_time.cells, 5u);
    EXPECT_EQ(extract_recording(job_of({full(example, example_classes)}, 1, counters_with("region_"))).counters, most_counters);
}

TEST(Evaluate, AnUnknownPhaseIsAnsweredWithThoseThatThereAre) {
    std::string text;
    ASSERT_EQ(messages(job_of({full(example, example_classes)}), "step", text), 1u);
    EXPECT_NE(text.find("\"step\""), std::string::npos) << text;
    EXPECT_NE(text.find("timestep"), std::string::npos) << text;
    BuiltPhase outside;
    ASSERT_EQ(messages(job_of({outside}), "", text), 1u);
    EXPECT_NE(text.find("profile_iteration_begin"), std::string::npos) << text;
}

} // namespace libprofile::tools
