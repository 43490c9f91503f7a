// The strip of ranks over time, and causes as the page gets them: what they show and sum up to is what the analysis says.
#include "tests/unit/tools_timeseries_program.hpp"
#include "tools/export/iteration_begins.hpp"
#include "tools/timeseries/run_strip.hpp"
#include "tools/view/begin_entry.hpp"
#include "tools/view/cause_entry.hpp"
#include "tools/view/strip_entry.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace libprofile;
using namespace libprofile::test;

namespace {

/// Ranks that run time steps in a loop: work, then MPI_Allreduce.
struct SteppingJob {
    MadeUpProgram program;
    std::vector<Location> locations;
    std::uint32_t main = program.call(0, 1);
    std::uint32_t work = program.call(main, 101), inner = program.call(work, 11), leaf = program.call(inner, 2);
    std::uint32_t wait = program.mpi(program.call(main, 105), "MPI_Allreduce", TimeCategory::MpiColl);

    explicit SteppingJob(const std::vector<int>& samples_of_work) {
        program.loops.loops = {{100, 110}};
        for (std::size_t rank = 0; rank < samples_of_work.size(); ++rank) {
            Location& location = locations.emplace_back();
            location.rank = static_cast<std::uint32_t>(rank);
            for (int step = 0; step < 40; ++step) {
                for (int i = 0; i < samples_of_work[rank]; ++i) add_sample(location.trace, leaf, i == 0 ? 1 : 4);
                for (int i = samples_of_work[rank]; i < 12; ++i) add_sample(location.trace, wait, i == samples_of_work[rank] ? 1 : 2);
            }
        }
    }
    JobSeries series() const {
        SeriesInput input{program.profile, {}, &program.loops, nullptr};
        for (const Location& location : locations) input.threads.push_back(&location);
        return job_series(input, {});
    }
};

std::uint32_t points_of(const std::vector<StripSpan>& row) {
    return std::accumulate(row.begin(), row.end(), 0u, [](std::uint32_t sum, const StripSpan& span) { return sum + span.points; });
}

TEST(Strip, SumsAtEachDepthAreThoseOfTheAnalysis) {
    const SteppingJob job({8, 8, 4, 4, 4, 10});
    const JobSeries series = job.series();
    const RunStrip strip = run_strip(series, ClockAxis(job.program.profile), &job.program.loops, 512);
    double run = 0;
    for (std::size_t t = 0; t < series.threads.size(); ++t) run += strip.end[t] - strip.begin[t];
    EXPECT_NEAR(strip.ns[0], run, 1e-6 * run);
    EXPECT_NEAR(series.mean.duration * 6, run, 1e-6 * run);
    ASSERT_FALSE(series.loops.empty());
    for (const LoopTotals& loop : series.loops) EXPECT_NEAR(strip.ns[loop.context], loop.duration, 1e-6 * run) << loop.context;
    std::vector<double> inside(series.contexts.size());
    for (ContextId id = 1; id < inside.size(); ++id) inside[series.contexts[id].parent] += strip.ns[id];
    for (ContextId id = 0; id < inside.size(); ++id) EXPECT_LE(inside[id], strip.ns[id] * (1 + 1e-9)) << id;
    // 38 of 72 samples of a step are work.
    const ContextId work = series.contexts.at_level(series.contexts.seen(job.leaf), series.contexts[series.contexts.seen(job.inner)].level);
    EXPECT_NEAR(strip.ns[work] / run, 38.0 / 72, 0.01);
}

TEST(Strip, ShowsAtEachPointWhereMostOfTheTimeIs) {
    const SteppingJob job({8, 8, 4, 4, 4, 10});
    const JobSeries series = job.series();
    const RunStrip fine = run_strip(series, ClockAxis(job.program.profile), &job.program.loops, 480 * 4),
                   coarse = run_strip(series, ClockAxis(job.program.profile), &job.program.loops, 40);
    ASSERT_EQ(fine.threads.size(), 6u);
    ASSERT_EQ(fine.clusters.size(), series.clusters.size());
    for (const RunStrip* strip : {&fine, &coarse})
        for (const auto* rows : {&strip->threads, &strip->clusters})
            for (const std::vector<StripSpan>& row : *rows) EXPECT_EQ(points_of(row), strip->points);
    // Work and waiting of 40 steps, and the end.
    EXPECT_GE(fine.threads[0].size(), 80u);
    EXPECT_LE(fine.threads[0].size(), 83u);
    // A point of a whole step is what most of the step is: work on rank 5, waiting on rank 2.
    const auto most = [&](std::size_t thread) {
        ContextId context = 0;
        std::uint32_t points = 0;
        for (const StripSpan& span : coarse.threads[thread])
            if (span.points > points) {
                points = span.points;
                context = span.context;
            }
        return context;
    };
    EXPECT_EQ(most(5), series.contexts.seen(job.leaf));
    EXPECT_EQ(most(2), series.contexts.seen(job.wait));
}

TEST(Strip, OfAClusterIsThatOfMostOfItsRanks) {
    const SteppingJob job({8, 8, 8, 8});
    const JobSeries series = job.series();
    ASSERT_EQ(series.clusters.size(), 1u);
    const RunStrip strip = run_strip(series, ClockAxis(job.program.profile), &job.program.loops, 300);
    EXPECT_EQ(strip.clusters[0], strip.threads[0]);
}

TEST(Strip, LiesOnTheAxisOfAllRanks) {
    SteppingJob job({8, 8});
    // Rank 1 began later by as long as the run took, and its own clock goes half as fast as the axis.
    const JobSeries series = job.series();
    const RunStrip apart = run_strip(series, ClockAxis(job.program.profile), &job.program.loops, 1000);
    const double begin = apart.begin[1], length = apart.end[1] - begin;
    job.program.profile.ranks[0].clock = ClockRecord{5, 1000};
    job.program.profile.ranks[1].clock = ClockRecord{5, 1000 + static_cast<std::uint64_t>(length), 0, 1000, 2000};
    const RunStrip strip = run_strip(series, ClockAxis(job.program.profile), &job.program.loops, 3000);
    EXPECT_NEAR(strip.begin[0], begin, 1);
    EXPECT_NEAR(strip.begin[1], length + 2 * begin, 1);
    EXPECT_NEAR(strip.end[1], strip.begin[1] + 2 * length, 1);
    EXPECT_NEAR(strip.point_ns * strip.points, 3 * length, 0.02 * length);
    EXPECT_EQ(strip.threads[1].front().context, not_running);
    EXPECT_NEAR(strip.threads[1].front().points, 1000, 20);
    EXPECT_EQ(strip.threads[0].back().context, not_running);
    EXPECT_NEAR(strip.threads[0].back().points, 2000, 20);
    EXPECT_EQ(strip.ns, apart.ns) << "what contexts take is on their own clock";
}

TEST(Strip, HasABoundedNumberOfPoints) {
    EXPECT_EQ(strip_points(0), 4096u);
    EXPECT_EQ(strip_points(2), 4096u);
    EXPECT_EQ(strip_points(1000), 400u);
    EXPECT_EQ(strip_points(1000000), 256u);
    const SteppingJob job({8});
    EXPECT_EQ(points_of(run_strip(job.series(), ClockAxis(job.program.profile), &job.program.loops, 1).threads[0]), 1u);
}

TEST(Strip, IsNotThereWithoutATrace) {
    MadeUpProgram program;
    Sections sections;
    EXPECT_TRUE(strip_entry(program.profile, ClockAxis(program.profile), {}, sections).is_null());
    EXPECT_TRUE(sections.list().empty());
}

TEST(Begins, AreBoundedAndHaveTheEndOfTheLastIteration) {
    Location location;
    PhaseData& phase = location.phases.emplace_back();
    phase.phase = 3;
    phase.iteration_ns.assign(1000000, 10);
    const std::vector<const Location*> mains = {nullptr, &location};
    Profile profile;
    BeginEntries begins(mains, ClockAxis(profile));
    EXPECT_EQ(begins.end(), 10000000u);
    Sections sections;
    const auto entry = begins.entry(3, sections);
    EXPECT_EQ(entry["counts"], nlohmann::ordered_json::array({0, 1000000}));
    EXPECT_EQ(entry["stride"], 5); // half of the room for the first phase
    EXPECT_LE(sections.list()[0].size(), BeginEntries::most);
    EXPECT_EQ(begins.entry(7, sections)["counts"], nlohmann::ordered_json::array({0, 0}));
}

TEST(Begins, LieOnTheAxisOfAllRanks) {
    Profile profile;
    profile.ranks[0].clock = ClockRecord{5, 1000};
    profile.ranks[1].clock = ClockRecord{5, 1700};
    std::vector<Location> locations(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        locations[rank].rank = rank;
        PhaseData& phase = locations[rank].phases.emplace_back();
        phase.iteration_ns = {10, 20};
        phase.iteration_begin_ns = {100, 110};
    }
    const std::vector<const Location*> mains = {&locations[0], &locations[1]};
    BeginEntries begins(mains, ClockAxis(profile));
    EXPECT_TRUE(begins.are_known());
    EXPECT_EQ(begins.end(), 700u + 110 + 20);
    Sections sections;
    const auto entry = begins.entry(0, sections);
    EXPECT_EQ(entry["counts"], nlohmann::ordered_json::array({2, 2}));
    NumberColumn expected;
    for (const std::uint64_t number : {100, 10, 20, 800, 10, 20}) expected.add(number);
    Sections other;
    other.add(expected);
    EXPECT_EQ(sections.list(), other.list());
}

TEST(Causes, HaveExactlyTheirRanksAndIterations) {
    DiagnosedRun run;
    run.run_ns = 200;
    Diagnosis& cause = run.list.emplace_back();
    cause.gain.value = 10;
    cause.phase = 2;
    cause.iterations = {0, 1, 2, 7, 9, 10};
    cause.ranks = {3, 5, 6};
    cause.sentence = "</script>";
    run.list.emplace_back().is_whole_run = true;
    const auto list = causes_entry(run, "a b")["list"];
    EXPECT_EQ(list[0]["iterations"], (std::vector<std::uint64_t>{0, 3, 7, 8, 9, 11}));
    EXPECT_EQ(list[0]["ranks"], (std::vector<std::uint64_t>{3, 4, 5, 7}));
    EXPECT_EQ(list[0]["share"], "5.0 %");
    EXPECT_EQ(list[0]["phase"], 2);
    EXPECT_EQ(list[1]["phase"], -1);
    EXPECT_TRUE(list[1]["iterations"].empty());
    EXPECT_NE(list[0]["next"].get<std::string>().find("'a b'"), std::string::npos);
}

} // namespace
