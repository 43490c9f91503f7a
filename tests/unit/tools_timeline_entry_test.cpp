// The timeline of the page: which parts have room, sums of iterations without events, and the columns of events.
#include "tests/unit/tools_page_column.hpp"
#include "tools/view/timeline_entry.hpp"
#include "tools/view/timeline_parts.hpp"
#include "tools/view/timeline_stretches.hpp"

#include <gtest/gtest.h>
#include <numeric>

using namespace libprofile;
using namespace libprofile::tools;
using libprofile::test::timeline_column;

namespace {

/// Two ranks with six iterations of 1,000 ns each, which begin at 10,000. In each, rank 0 sends to rank 1 for 100 ns, at 200.
struct TimelineJob {
    Profile profile;
    static constexpr std::uint64_t iterations = 6, first_begin = 10'000, length = 1'000;

    TimelineJob() {
        profile.metrics.resize(metric_count);
        profile.phases = {{"", PhaseKind::Outside}, {"step", PhaseKind::Iterations}};
        profile.paths.resize(4);
        profile.functions = {{"MPI_Send", TimeCategory::MpiP2p}, {"MPI_Recv", TimeCategory::MpiP2p}};
        profile.paths[1] = {0, NodeKind::Mpi, 0, 0};
        profile.paths[2] = {0, NodeKind::Mpi, 1, 0};
        profile.paths[3] = {0, NodeKind::Region, 0, 7};
        profile.region_names[7] = "solve";
        profile.job.ranks = 2;
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            profile.ranks[rank] = {};
            Location& location = profile.locations.emplace_back();
            location.rank = rank;
            location.events.stride = 1;
            PhaseData& data = location.phases.emplace_back();
            data.phase = 1;
            data.iteration_ns.assign(iterations, length);
            for (std::uint64_t i = 0; i < iterations; ++i) data.iteration_begin_ns.push_back(first_begin + i * length);
            data.cluster_of_iteration.assign(iterations, 0);
            data.clusters.push_back({iterations, 0, {{rank + 1, 0, iterations * 100}}}); // metric 0 is time
        }
    }
    std::uint32_t path_of(std::uint32_t rank) const { return rank + 1; }

    void keep(std::uint32_t rank, std::uint64_t number, std::uint32_t calls = 1) {
        KeptEvents& events = profile.locations[rank].events;
        EventPart part;
        part.kind = PartKind::Iteration;
        part.phase = 1;
        part.number = number;
        part.begin_ns = first_begin + number * length;
        part.end_ns = part.begin_ns + length;
        part.intervals_at = static_cast<std::uint32_t>(events.intervals.size());
        part.messages_at = static_cast<std::uint32_t>(events.messages.size());
        part.intervals = calls + 1;
        part.messages = 1;
        for (std::uint32_t c = 0; c < calls; ++c) events.intervals.push_back({part.begin_ns + 200 + c, part.begin_ns + 300 + c, path_of(rank)});
        TracedMessage message;
        message.interval = part.intervals_at;
        message.direction = rank == 0 ? MessageDirection::Sent : MessageDirection::Received;
        message.partner = 1 - rank;
        message.bytes = 64;
        message.number = number + 1;
        events.messages.push_back(message);
        events.intervals.push_back({part.begin_ns + 100, part.begin_ns + 900, 3}); // the region around ends later
        events.parts.push_back(part);
    }
    nlohmann::ordered_json entry(Sections& sections, std::size_t most_bytes = 1'000'000) const {
        return timeline_entry(profile, ClockAxis(profile), page_tables(profile), most_bytes, false, sections);
    }
};

std::vector<std::uint64_t> kept_numbers(const TimelineJob& job, const ChosenParts& chosen, std::size_t location) {
    std::vector<std::uint64_t> list;
    for (std::size_t p = 0; p < chosen.is_in[location].size(); ++p)
        if (chosen.is_in[location][p]) list.push_back(job.profile.locations[location].events.parts[p].number);
    return list;
}

TEST(TimelineParts, ThoseOfAllRanksComeFirstThenTheCoarsest) {
    TimelineJob job;
    job.keep(0, 0);
    job.keep(0, 1);
    job.keep(0, 3);
    job.keep(0, 4);
    job.keep(1, 1);
    job.keep(1, 4);
    const std::uint64_t one = event_bytes_of(job.profile.locations[0].events.parts[0]);
    const ChosenParts all = choose_parts(job.profile, 6 * one);
    EXPECT_EQ(all.left_out, 0u);
    EXPECT_EQ(all.all, 4u);
    const ChosenParts most = choose_parts(job.profile, 5 * one);
    EXPECT_EQ(kept_numbers(job, most, 0), (std::vector<std::uint64_t>{0, 1, 4}));
    const ChosenParts few = choose_parts(job.profile, 3 * one);
    EXPECT_EQ(kept_numbers(job, few, 0), (std::vector<std::uint64_t>{0, 4})); // 4 on both, then what fits
    EXPECT_EQ(kept_numbers(job, few, 1), (std::vector<std::uint64_t>{4}));
    EXPECT_EQ(few.left_out, 2u);
    EXPECT_EQ(few.events_left_out, 9u); // of three parts, three events each
    EXPECT_EQ(choose_parts(job.profile, 0).left_out, 4u);
}

TEST(TimelineStretches, IterationsWithoutEventsHaveTheirSums) {
    TimelineJob job;
    job.keep(0, 2);
    const ChosenParts chosen = choose_parts(job.profile, 1'000'000);
    const auto stretches = summed_stretches(job.profile, chosen, 1000);
    ASSERT_EQ(stretches[0].size(), 5u);
    ASSERT_EQ(stretches[1].size(), 6u);
    for (const SummedStretch& stretch : stretches[0]) {
        EXPECT_NE(stretch.first, 2u);
        EXPECT_EQ(stretch.begin_ns, TimelineJob::first_begin + stretch.first * TimelineJob::length);
        EXPECT_EQ(stretch.sums[static_cast<std::size_t>(TimelineState::PointToPoint)], 100u);
        EXPECT_EQ(stretch.sums[0], 900u);
        EXPECT_FALSE(stretch.is_exact); // there are no values of single iterations
    }
    // Several make one where there is no room, but not over what was kept.
    const auto few = summed_stretches(job.profile, chosen, 3);
    ASSERT_EQ(few[0].size(), 2u);
    EXPECT_EQ(few[0][0].count, 2u);
    EXPECT_EQ(few[0][1].first, 3u);
    EXPECT_EQ(few[0][1].count, 3u);
    EXPECT_EQ(few[0][1].sums[0], 2700u);
    EXPECT_EQ(few[0][1].end_ns, TimelineJob::first_begin + 6 * TimelineJob::length);
}

TEST(TimelineStretches, IterationsInOthersAreNotCountedTwice) {
    TimelineJob job;
    job.profile.phases.push_back({"inner", PhaseKind::Iterations});
    PhaseData inner;
    inner.phase = 2;
    inner.iteration_begin_ns = {TimelineJob::first_begin, TimelineJob::first_begin + 400};
    inner.iteration_ns = {300, 300};
    inner.cluster_of_iteration = {0, 0};
    job.profile.locations[0].phases.push_back(inner);
    const auto stretches = summed_stretches(job.profile, choose_parts(job.profile, 0), 1000);
    EXPECT_EQ(stretches[0].size(), 6u);
    for (const SummedStretch& stretch : stretches[0]) EXPECT_EQ(stretch.phase, 1u);
}

TEST(TimelineEntry, IsNullWithoutEvents) {
    TimelineJob job;
    for (Location& location : job.profile.locations) location.events = {};
    Sections sections;
    EXPECT_TRUE(job.entry(sections).is_null());
    EXPECT_TRUE(sections.list().empty());
}

TEST(TimelineEntry, EventsComeInTheOrderOfTheirBeginsAndMessagesOnce) {
    TimelineJob job;
    for (std::uint32_t rank = 0; rank < 2; ++rank) job.keep(rank, 0);
    job.keep(0, 5);
    Sections sections;
    const nlohmann::ordered_json entry = job.entry(sections);
    EXPECT_EQ(entry["rows"]["parts"], (nlohmann::ordered_json{2, 1}));
    EXPECT_EQ(entry["rows"]["intervals"], (nlohmann::ordered_json{4, 2}));
    EXPECT_EQ(entry["rows"]["messages"], (nlohmann::ordered_json{2, 0})); // one pair, and one whose other end was not kept
    EXPECT_EQ(entry["rows"]["stretches"], (nlohmann::ordered_json{4, 5}));
    EXPECT_EQ(timeline_column(sections, entry["intervals"]["begins"]), (std::vector<std::uint64_t>{10'100, 100, 4'900, 100, 10'100, 100}));
    EXPECT_EQ(timeline_column(sections, entry["intervals"]["lengths"]), (std::vector<std::uint64_t>{800, 100, 800, 100, 800, 100}));
    const std::uint64_t region = timeline_state_count, p2p = static_cast<std::uint64_t>(TimelineState::PointToPoint);
    EXPECT_EQ(timeline_column(sections, entry["intervals"]["states"]), (std::vector<std::uint64_t>{region, p2p, region, p2p, region, p2p}));
    EXPECT_EQ(timeline_column(sections, entry["messages"]["calls"]), (std::vector<std::uint64_t>{2, 4}));  // 1, then 2 more, zigzag
    EXPECT_EQ(timeline_column(sections, entry["messages"]["rows"]), (std::vector<std::uint64_t>{2, 0}));   // location 1, then unknown
    EXPECT_EQ(timeline_column(sections, entry["messages"]["others"]), (std::vector<std::uint64_t>{2, 0})); // its call 1
    EXPECT_EQ(timeline_column(sections, entry["parts"]["numbers"]), (std::vector<std::uint64_t>{0, 10, 0}));
    EXPECT_EQ(entry["end"], 16'000);
}

TEST(TimelineEntry, WhatDoesNotFitIsLeftOutAndSaid) {
    TimelineJob job;
    for (std::uint64_t number = 0; number < 6; ++number)
        for (std::uint32_t rank = 0; rank < 2; ++rank) job.keep(rank, number, 2000);
    Sections whole, part;
    EXPECT_EQ(job.entry(whole)["rows"]["parts"], (nlohmann::ordered_json{6, 6}));
    std::size_t bytes = 0;
    for (const std::string& column : whole.list()) bytes += column.size();
    const nlohmann::ordered_json entry = job.entry(part, bytes / 2);
    std::size_t less = 0;
    for (const std::string& column : part.list()) less += column.size();
    EXPECT_LE(less, bytes / 2);
    EXPECT_EQ(entry["rows"]["parts"][0], entry["rows"]["parts"][1]);
    EXPECT_EQ(entry["rows"]["parts"][0].get<int>() + entry["rows"]["stretches"][0].get<int>(), 6); // the others have their sums
    EXPECT_NE(entry["notes"].dump().find("view --serve"), std::string::npos) << entry["notes"];
}

} // namespace
