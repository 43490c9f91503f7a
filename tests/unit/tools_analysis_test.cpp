// Analyses: hot spots, the folded call tree, iteration series, what distinguishes clusters; the chart.
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/iterations.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/plot/text_chart.hpp"
#include "tools/reader/reader.hpp"

#include <gtest/gtest.h>
#include <numeric>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

Profile sample(std::uint32_t ranks) {
    const ByteVector bytes = sample_file(ranks);
    const NamedBytes file{"profile.lprof", bytes};
    return read_profile(std::span(&file, 1));
}

/// A job of one rank with one module, and no function of MPI.
void begin_one_rank(ProfileBuilder& b) {
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {{"", "/app"}});
    b.functions(0, {});
}

} // namespace

TEST(Totals, SpreadOfARow) {
    const Spread odd = spread_of({3, 1, 2}), even = spread_of({4, 1, 2, 3});
    EXPECT_EQ(odd.minimum, 1);
    EXPECT_EQ(odd.median, 2);
    EXPECT_EQ(odd.maximum, 3);
    EXPECT_EQ(even.median, 2.5);
    EXPECT_EQ(even.sum, 10);
    EXPECT_EQ(spread_of({}).sum, 0);
}

TEST(HotSpots, OwnTimeByFunction) {
    const Profile p = sample(2);
    SpotTable table = spot_table(p);
    const std::vector<HotSpot> spots = hot_spots(p, main_threads(p), table);
    double sum = 0;
    for (const HotSpot& s : spots) sum += s.total;
    EXPECT_EQ(sum, 3000 + 3009);
    ASSERT_FALSE(spots.empty());
    EXPECT_EQ(table.spots[spots[0].spot].name, "libsolve.so+0x2000");
    EXPECT_EQ(spots[0].by_location[0], 1600);
    EXPECT_EQ(spots[0].by_location[1], 1603);
}

TEST(HotSpots, TreeFoldsRecursionAndCallSites) {
    ProfileBuilder b(1);
    begin_one_rank(b);
    b.tree(0, 0, 10, {{0, NodeKind::Frame, 0, 1}, {1, NodeKind::Frame, 0, 2}, {2, NodeKind::Frame, 0, 3}, {0, NodeKind::Frame, 0, 4}});
    BuiltPhase phase;
    phase.wall_ns = 10;
    phase.rest = {{1, Metric::Time, 1}, {2, Metric::Time, 2}, {3, Metric::Time, 3}, {4, Metric::Time, 4}};
    b.phase(0, phase);
    const NamedBytes file{"profile.lprof", b.bytes()};
    Profile p = read_profile(std::span(&file, 1));
    for (Site& site : p.sites) site.name = {site.offset == 3 ? "leaf" : "work", "w.cpp", site.offset};
    const std::vector<FunctionNode> nodes = function_tree(p, main_threads(p));
    ASSERT_EQ(nodes.size(), 3u); // root, work (twice, once recursive), leaf
    EXPECT_EQ(nodes[1].name, "work");
    EXPECT_EQ(nodes[1].exclusive, 7);
    EXPECT_EQ(nodes[1].inclusive, 10);
    EXPECT_EQ(nodes[1].source, "w.cpp:1");
    EXPECT_EQ(nodes[2].exclusive, 3);
    EXPECT_EQ(nodes[0].inclusive, 10);
}

TEST(HotSpots, VisitsWithoutTimeKeepTheirCallers) {
    ProfileBuilder b(1);
    begin_one_rank(b);
    b.tree(0, 0, 10,
           {{0, NodeKind::Frame, 0, 1},   // main() with time
            {1, NodeKind::Frame, 0, 2},   // work() without
            {2, NodeKind::Region, 0, 7},  // and its region, too short for a sample
            {1, NodeKind::Frame, 0, 3}}); // nothing at all
    BuiltPhase phase;
    phase.wall_ns = 10;
    phase.rest = {{1, Metric::Time, 10}, {3, Metric::Visits, 4}};
    b.phase(0, phase);
    const NamedBytes file{"profile.lprof", b.bytes()};
    Profile p = read_profile(std::span(&file, 1));
    for (Site& site : p.sites) site.name = {site.offset == 1 ? "main" : site.offset == 2 ? "work" : "never", "w.cpp", site.offset};
    const std::vector<FunctionNode> nodes = function_tree(p, main_threads(p));
    ASSERT_EQ(nodes.size(), 4u); // root, main, work, the region
    EXPECT_EQ(nodes[1].name, "main");
    EXPECT_EQ(nodes[2].name, "work");
    EXPECT_EQ(nodes[2].parent, 1);
    EXPECT_EQ(nodes[2].source, "w.cpp:2");
    EXPECT_EQ(nodes[2].visits, 0);
    EXPECT_EQ(nodes[3].kind, NodeKind::Region);
    EXPECT_EQ(nodes[3].parent, 2);
    EXPECT_EQ(nodes[3].visits, 4);
}

TEST(Iterations, TimesOverRanks) {
    const Profile p = sample(3);
    const IterationSeries series = iteration_times(main_threads(p), 1);
    ASSERT_EQ(series.median.size(), 6u);
    EXPECT_EQ(series.minimum[5], 300);
    EXPECT_EQ(series.median[5], 307);
    EXPECT_EQ(series.maximum[5], 314);
    EXPECT_EQ(series.slowest[5], 2u);
}

TEST(Iterations, ReconstructionKeepsTheSum) {
    const Profile p = sample(1);
    const PhaseData* data = find_phase(&p.locations[0], 1);
    ASSERT_NE(data, nullptr);
    const auto row = static_cast<std::size_t>(CatalogueId::Total);
    const std::vector<double> series = reconstructed_series(p, *data, row);
    ASSERT_EQ(series.size(), 6u);
    EXPECT_EQ(series[2], 860);
    EXPECT_EQ(series[0], 210);
    EXPECT_DOUBLE_EQ(std::accumulate(series.begin(), series.end(), 0.0), static_cast<double>(data->wall_ns));
}

TEST(Iterations, DifferencesOfClusters) {
    const Profile p = sample(1);
    const PhaseData* data = find_phase(&p.locations[0], 1);
    ASSERT_NE(data, nullptr);
    const SpotTable table = spot_table(p);
    const std::vector<ClusterSummary> summaries = summarize_clusters(p, p.locations[0], *data, table);
    ASSERT_EQ(summaries.size(), 2u);
    EXPECT_EQ(summaries[0].size, 4u);
    EXPECT_EQ(summaries[0].mean_time, 210);
    EXPECT_TRUE(summaries[0].differences.empty()); // it is the typical one
    ASSERT_FALSE(summaries[1].differences.empty());
    EXPECT_EQ(table.spots[summaries[1].differences[0].spot].name, "libsolve.so+0x2000");
    EXPECT_EQ(summaries[1].differences[0].time, 700 - 150);
    bool visits = false;
    for (const MetricDifference& d : summaries[1].metrics)
        if (metric_rows(p)[d.row].name == "visits") visits = d.here == 2 && d.typical == 1;
    EXPECT_TRUE(visits);
}

TEST(Iterations, SimilarClustersJoinInsideTheirClass) {
    PhaseData data;
    data.instances = 6;
    data.clusters.resize(4);
    data.clusters[0] = {2, 0, {{1, 0, 20}}};
    data.clusters[1] = {2, 0, {{1, 0, 24}}};
    data.clusters[2] = {1, 0, {{1, 0, 100}}};
    data.clusters[3] = {1, 1, {{1, 0, 11}}};
    data.cluster_of_iteration = {0, 1, 0, 1, 2, 3};
    data.iteration_ns = {10, 12, 10, 12, 100, 11};
    const PhaseData three = join_similar_clusters(data, 3);
    ASSERT_EQ(three.clusters.size(), 3u);
    EXPECT_EQ(three.cluster_of_iteration, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 2}));
    EXPECT_EQ(three.clusters[0].size, 4u);
    EXPECT_EQ(three.clusters[0].cells.size(), 2u);
    EXPECT_EQ(join_similar_clusters(data, 1).clusters.size(), 3u); // two classes, and one that takes nine times as long
    EXPECT_EQ(join_similar_clusters(data, 9).clusters.size(), 4u);
}

TEST(Chart, ColumnsCoverEveryIterationOnce) {
    for (const std::size_t n : {1u, 5u, 87u, 88u, 89u, 400u, 10007u}) {
        const ChartColumns chart(n, 88);
        EXPECT_LE(chart.width, 88u);
        EXPECT_EQ(chart.begin(0), 0u);
        EXPECT_EQ(chart.end(chart.width - 1), n);
        for (std::size_t c = 1; c < chart.width; ++c) {
            EXPECT_GE(chart.begin(c), chart.begin(c - 1));
            EXPECT_LE(chart.begin(c), chart.end(c - 1));
        }
    }
}

TEST(Chart, ExtremesAreCutAndMarked) {
    IterationSeries series;
    for (int i = 0; i < 50; ++i)
        for (auto* values : {&series.minimum, &series.median, &series.maximum}) values->push_back(i == 7 ? 1e9 : 1e6);
    series.slowest.resize(50);
    const std::vector<std::string> lines = draw_chart(series, TextStyle{}, ChartColumns(50, 88), 8);
    ASSERT_EQ(lines.size(), 10u);
    EXPECT_NE(lines[0].find("▲"), std::string::npos);
    EXPECT_NE(lines[0].find("1.50 ms"), std::string::npos);
}

TEST(Layout, Numbers) {
    const TextStyle style;
    EXPECT_EQ(duration(0, style), "0 s");
    EXPECT_EQ(duration(999, style), "999 ns");
    EXPECT_EQ(duration(1234, style), "1.23 µs");
    EXPECT_EQ(duration(59.96e6, style), "60.0 ms");
    EXPECT_EQ(duration(125e9, style), "2m05s");
    EXPECT_EQ(duration(3.5 * 3600e9, style), "3h30m");
    EXPECT_EQ(count(1234567), "1,234,567");
    EXPECT_EQ(count(12), "12");
    EXPECT_EQ(count(12345678), "12.3 M");
    EXPECT_EQ(byte_size(4096), "4.00 KiB");
    EXPECT_EQ(byte_size(17), "17 B");
    EXPECT_EQ(percent(0.0004), "0.04 %");
    EXPECT_EQ(percent(0.5), "50.0 %");
    EXPECT_EQ(left(style, "Größe", 3), "Gr…");
    EXPECT_EQ(keep_end(style, "solver.cpp:12", 7), "…cpp:12");
    EXPECT_EQ(wrapped("a bb ccc", 4), (std::vector<std::string>{"a bb", "ccc"}));
}
