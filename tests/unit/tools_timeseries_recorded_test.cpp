// The analysis of time series on a recorded job: tests/fuzz/corpus/job.lprof, two ranks of hydro with a trace, whose loops are not known here.
#include "tools/reader/reader.hpp"
#include "tools/timeseries/job_series.hpp"
#include "tools/timeseries/segments.hpp"

#include <filesystem>
#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::tools;

namespace {

Profile recorded() { return read_profile(std::filesystem::path(TIMESERIES_RECORDING)); }

void expect_parts_to_add_up(const TimeNode& node) {
    double parts = own_time(node);
    for (const TimeNode& child : node.children) parts += child.duration;
    for (const TimeNode& iteration : node.clusters) parts += iteration.count * iteration.duration;
    EXPECT_NEAR(parts, node.duration, 1e-6 * node.duration + 1);
    EXPECT_GE(node.gap, 0);
    EXPECT_GE(node.tail, 0);
    for (const TimeNode& child : node.children) expect_parts_to_add_up(child);
    for (const TimeNode& iteration : node.clusters) expect_parts_to_add_up(iteration);
}

} // namespace

TEST(RecordedTimeSeries, TreesHaveTheTimeOfTheTrace) {
    const Profile profile = recorded();
    SeriesInput input{profile, {}, nullptr, nullptr};
    double time = 0;
    for (const Location& location : profile.locations) {
        input.threads.push_back(&location);
        ASSERT_GT(location.trace.samples.size(), 2u);
        time += static_cast<double>(location.trace.samples.back().time_ns - location.trace.samples.front().time_ns);
    }
    ASSERT_EQ(input.threads.size(), 2u);
    const JobSeries job = job_series(input, {});
    EXPECT_NEAR(job.mean.duration, time / 2 + job.period, job.period) << "half a period at either end";
    EXPECT_LE(job.mean.low, job.mean.duration);
    EXPECT_GE(job.mean.high, job.mean.duration);
    expect_parts_to_add_up(job.mean);
}

TEST(RecordedTimeSeries, KnownIterationsHoldAllTheirSamples) {
    const Profile profile = recorded();
    const Location& location = profile.locations[0];
    // The run in ten equal parts, as if somebody had marked them.
    const double first = static_cast<double>(location.trace.samples.front().time_ns), last = static_cast<double>(location.trace.samples.back().time_ns) + 1;
    std::vector<KnownIterations> known{{1, {}}};
    for (int i = 0; i < 10; ++i) known[0].iterations.push_back({first + (last - first) * i / 10, first + (last - first) * (i + 1) / 10});
    SeriesInput input{profile, {&location}, nullptr, [&](const Location&) { return known; }};
    const JobSeries job = job_series(input, {});
    ASSERT_FALSE(job.loops.empty());
    EXPECT_EQ(job.loops[0].accepted, 10u);
    EXPECT_EQ(job.loops[0].rejected, 0u);
    EXPECT_NEAR(job.loops[0].duration, last - first, job.period);
    expect_parts_to_add_up(job.mean);
}
