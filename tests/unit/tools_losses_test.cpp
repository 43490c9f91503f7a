// Whatever a file counts as lost is said in a sentence.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/cost.hpp"
#include "tools/analysis/findings.hpp"
#include "tools/analysis/losses.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

/// Goes through the numbers of a record; keeps the address of one.
struct FieldFinder {
    static constexpr bool reading = false;
    std::size_t wanted = 0;
    std::size_t seen = 0;
    std::uint64_t* field = nullptr;
    void number(std::uint64_t& n) { field = seen++ == wanted ? &n : field; }
    void text(const Text& /*unused*/) {}
};

std::string said_of(const RankRecord& record) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    add_sample_rank(b, 0, record);
    const Profile profile = read_one(b.bytes());
    std::string all;
    for (const Loss& loss : losses(profile)) all += loss.sentence + "\n";
    for (const std::string& sentence : what_it_cost(profile, main_threads(profile)).sentences) all += sentence + "\n";
    return all;
}

std::map<std::string, Loss> by_kind(const Profile& profile) {
    std::map<std::string, Loss> kinds;
    for (const Loss& loss : losses(profile)) kinds.emplace(loss.kind, loss);
    return kinds;
}

} // namespace

TEST(Losses, SamplesInLibprofileCountWhereItMeasuredLess) {
    RankRecord record = sample_rank_record(0);
    EXPECT_NE(said_of(record).find("\nat least 3.3 % of the time"), std::string::npos) << said_of(record);
    record.samples_taken = 500;
    record.skipped[static_cast<std::size_t>(SkipReason::InTool)] = 400;
    const std::string said = said_of(record);
    EXPECT_NE(said.find("\n80.0 % of the samples hit libprofile itself (it measured "), std::string::npos) << said;
}

TEST(Losses, OperationsThatAreNotFollowedAreTold) {
    RankRecord record = sample_rank_record(0);
    EXPECT_EQ(said_of(record).find("MPI_Op_create"), std::string::npos);
    record.operations_lost = 3;
    EXPECT_NE(said_of(record).find("3 operations of the program (MPI_Op_create) not told apart"), std::string::npos) << said_of(record);
}

TEST(Losses, WhereMemoryRanOutNobodyIsToldToMarkIterations) {
    const auto said_of_change = [](std::uint64_t quota_losses) {
        RankRecord record = sample_rank_record(0);
        record.quota_losses = quota_losses;
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        add_sample_rank(b, 0, record);
        Profile profile = read_one(b.bytes());
        for (Phase& phase : profile.phases)
            if (phase.kind == PhaseKind::Iterations) phase.kind = PhaseKind::Aggregate;
        for (const Finding& finding : findings(profile, main_threads(profile)))
            if (finding.key == "change") return finding.sentences.at(0);
        return std::string();
    };
    EXPECT_NE(said_of_change(0).find("Or mark it"), std::string::npos) << said_of_change(0);
    const std::string said = said_of_change(3);
    EXPECT_NE(said.find("Memory ran out"), std::string::npos) << said;
    EXPECT_EQ(said.find("mark"), std::string::npos) << said;
}

TEST(Losses, EveryCounterOfARankHasASentence) {
    RankRecord record = sample_rank_record(0);
    // What tells how the rank was measured and loses nothing. A new field is a loss until it is listed here.
    std::vector<const std::uint64_t*> others = {&record.rank,         &record.pid,         &record.threads,       &record.clock,     &record.memory_used,
                                                &record.memory_quota, &record.memory_peak, &record.bytes_written, &record.writing_ns};
    for (std::size_t i = 0; i < path_count_count; ++i)
        if (const auto which = static_cast<PathCount>(i); which != PathCount::Checked && which != PathCount::Wrong) others.push_back(&record.path_counts[i]);
    const std::string before = said_of(record);
    std::size_t said = 0;
    for (std::size_t n = 0;; ++n) {
        FieldFinder finder{n};
        describe(finder, record);
        if (finder.field == nullptr) break;
        if (std::find(others.begin(), others.end(), finder.field) != others.end()) continue;
        const std::uint64_t value = *finder.field;
        *finder.field = finder.field == &record.complete ? 0 : finder.field == &record.sampling_clock ? 2 : value + 3;
        EXPECT_NE(said_of(record), before) << "nothing is said of number " << n << " of the record";
        *finder.field = value;
        ++said;
    }
    EXPECT_GT(said, 15u);
}

TEST(Losses, IterationsWithoutClusterAreToldByTheirReason) {
    Profile profile = read_one(sample_file(2));
    auto kinds = by_kind(profile);
    ASSERT_TRUE(kinds.contains("iterations_without_cluster"));
    EXPECT_EQ(kinds.at("iterations_without_cluster").count, 2u); // the last of each rank
    EXPECT_NE(kinds.at("iterations_without_cluster").sentence.find("2 of 12 iterations"), std::string::npos);
    EXPECT_FALSE(kinds.contains("iterations_beyond_reader"));
    profile.ranks.at(1).beyond_reader = 1;
    kinds = by_kind(profile);
    EXPECT_EQ(kinds.at("iterations_without_cluster").count, 1u);
    EXPECT_EQ(kinds.at("iterations_beyond_reader").count, 1u);
    EXPECT_EQ(kinds.at("iterations_beyond_reader").sentence.find("memory ran out"), std::string::npos);
}

TEST(Losses, IterationsWithoutValuesAndTimeWithoutCallPathsAreTold) {
    Profile profile = read_one(sample_file(1, true));
    EXPECT_FALSE(by_kind(profile).contains("iterations_without_values"));
    for (PhaseData& data : profile.locations[0].phases)
        if (data.series) data.series->chunks.emplace_back().iterations = 5; // their values were dropped
    const auto kinds = by_kind(profile);
    ASSERT_TRUE(kinds.contains("iterations_without_values"));
    EXPECT_EQ(kinds.at("iterations_without_values").count, 5u);

    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    add_sample_rank(b, 0);
    b.tree(0, 1, 50, {{0, NodeKind::Quota, 0, 0}});
    BuiltPhase p;
    p.thread = 1;
    p.wall_ns = 50;
    p.rest = {{1, Metric::Time, 50}};
    b.phase(0, p);
    const auto folded = by_kind(read_one(b.bytes()));
    ASSERT_TRUE(folded.contains("quota_time"));
    EXPECT_EQ(folded.at("quota_time").count, 50u);
}

TEST(Losses, ThreadsThatEndedWithNothingToShowAreToldWithTheirTime) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    add_sample_rank(b, 0);
    EXPECT_FALSE(by_kind(read_one(b.bytes())).contains("threads_short"));
    ShortThreadsRecord record{200, 800000000};
    b.block(BlockType::ShortThreads, 0, [&](Encoder& e) { describe(e, record); });
    const auto kinds = by_kind(read_one(b.bytes()));
    ASSERT_TRUE(kinds.contains("threads_short"));
    EXPECT_EQ(kinds.at("threads_short").count, 200u);
    EXPECT_EQ(kinds.at("threads_short").sentence, "200 threads not shown, without a sample, an MPI call or a marker: 800 ms of processor time");
}
