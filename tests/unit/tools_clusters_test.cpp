// What reports say of clusters whose iterations take very different times: on clusters as they are given, and on those that the job makes.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/iterations.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/reader/kept_iterations.hpp"
#include "tools/report/text.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

constexpr std::uint64_t frame = 1, call = 2; // nodes

/// One rank, one phase "step".
Profile profile_of(const std::vector<double>& times, const std::vector<std::uint64_t>& cluster_of_iteration) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {{"", "/app"}});
    b.functions(0, {{0, "MPI_Allreduce", TimeCategory::MpiColl}});
    BuiltPhase phase;
    phase.name = "step";
    phase.kind = PhaseKind::Iterations;
    phase.instances = times.size();
    phase.cluster_of_iteration = cluster_of_iteration;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const auto ns = static_cast<std::uint64_t>(times[i]);
        phase.iteration_ns.push_back(ns);
        phase.wall_ns += ns;
        if (cluster_of_iteration[i] >= phase.clusters.size())
            phase.clusters.resize(cluster_of_iteration[i] + 1, {0, 0, {{frame, Metric::Time, 0}, {call, Metric::Visits, 0}}});
        BuiltCluster& cluster = phase.clusters[cluster_of_iteration[i]];
        ++cluster.size;
        cluster.cells[0].value += ns;
        ++cluster.cells[1].value;
    }
    phase.wall_inclusive_ns = phase.wall_ns;
    b.tree(0, 0, phase.wall_ns, {{0, NodeKind::Frame, 0, 1}, {1, NodeKind::Mpi, 0, 2}});
    b.phase(0, phase);
    b.end();
    return read_one(b.bytes());
}

/// In the clusters that the job would form: by default, or with this limit.
std::vector<std::uint64_t> clusters_of(const std::vector<double>& times, std::uint32_t limit = KeptSettings().clusters) {
    KeptSettings settings;
    settings.clusters = limit;
    KeptIterations kept(settings, times.size());
    StructureSignatures signatures;
    signatures.strong.part[0] = signatures.weak.part[0] = 1;
    for (const double time : times) {
        const auto ns = static_cast<std::uint64_t>(time);
        KeptProfile profile;
        profile.cells = {{libprofile::Cell::make_key(frame, 0), ns}, {libprofile::Cell::make_key(call, static_cast<std::size_t>(Metric::Visits)), 1}};
        profile.events = {profile.cells[1]};
        std::uint64_t direct[metric_count] = {}, by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
        direct[static_cast<std::size_t>(Metric::Visits)] = 1;
        by_category[static_cast<std::size_t>(TimeCategory::Compute)] = ns;
        derive_catalogue(direct, by_category, profile.condensed.values);
        profile.signatures = signatures;
        kept.add(std::move(profile), ns, false);
    }
    PhaseData data;
    kept.append_to(data, {});
    return {data.cluster_of_iteration.begin(), data.cluster_of_iteration.end()};
}

/// The lines below "Clusters of".
std::vector<std::string> cluster_lines(const Profile& profile) {
    std::istringstream text(report_text(profile, TextStyle{}));
    std::vector<std::string> lines;
    bool is_there = false;
    for (std::string line; std::getline(text, line);) {
        if (is_there && line.empty()) break;
        if (is_there) lines.push_back(line);
        is_there = is_there || line.starts_with("Clusters of");
    }
    return lines;
}

/// No cluster is called typical whose iterations differ by a factor of ten; returns the widest cluster's factor.
double check(const std::vector<double>& times, const std::vector<std::uint64_t>& clusters) {
    const Profile profile = profile_of(times, clusters);
    const PhaseData& stored = *find_phase(&profile.locations[0], 0);
    double widest = 1;
    std::size_t rows = 0;
    for (const PhaseData& data : {stored, join_similar_clusters(stored, 8)})
        for (const ClusterSummary& s : summarize_clusters(profile, profile.locations[0], data, spot_table(profile))) {
            EXPECT_EQ(s.times.is_one_kind(), s.times.longest < 10 * s.times.shortest);
            EXPECT_TRUE(s.times.shortest <= s.times.low && s.times.low <= s.times.median && s.times.median <= s.times.high && s.times.high <= s.times.longest);
            widest = std::max(widest, s.times.longest / s.times.shortest);
            rows += s.times.is_one_kind() ? 0 : 1;
        }
    std::size_t said = 0;
    for (const std::string& line : cluster_lines(profile)) {
        EXPECT_FALSE(line.find("not one kind") != std::string::npos && line.find("typical") != std::string::npos) << line;
        said += line.find("not one kind") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(said != 0, rows != 0);
    return widest;
}

/// 98 % lie between 19 us and 46 ms, by no rule; a few are far longer.
std::vector<double> wide_spread() {
    std::vector<double> times;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> logarithm(std::log(19e3), std::log(46e6));
    for (int i = 0; i < 1000; ++i) times.push_back(i % 55 == 54 ? 4e8 + static_cast<double>(random() % 1000000000) : std::exp(logarithm(random)));
    return times;
}

/// 300 that take 6 us, then some milliseconds, with extremes.
std::vector<double> short_at_first() {
    std::vector<double> times;
    std::mt19937_64 random(2);
    std::normal_distribution<double> noise(1, 0.08);
    for (int i = 0; i < 1000; ++i)
        times.push_back((i < 300 ? 6e3 : i % 97 == 96 ? 4e7 + static_cast<double>(random() % 60000000) : 3.7e6) * std::max(0.5, noise(random)));
    return times;
}

} // namespace

TEST(Clusters, OneThatSpansAFactorOfTenIsNotATypicalIteration) {
    std::vector<double> times = wide_spread();
    std::vector<std::uint64_t> clusters;
    for (const double time : times) clusters.push_back(time > 4e8 ? 1 : 0);
    check(times, clusters);
    const std::vector<std::string> lines = cluster_lines(profile_of(times, clusters));
    ASSERT_GE(lines.size(), 3u);
    EXPECT_NE(lines[1].find("982 (98.2 %)"), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find("not one kind: 19."), std::string::npos) << lines[1];

    times = short_at_first();
    clusters.assign(times.size(), 0);
    for (std::size_t i = 619; i < times.size(); ++i) clusters[i] = 1;
    check(times, clusters);
    const std::string line = cluster_lines(profile_of(times, clusters))[1];
    EXPECT_NE(line.find("619 (61.9 %)"), std::string::npos) << line;
    EXPECT_NE(line.find(" µs .. "), std::string::npos) << line; // 5 to 95 %
}

TEST(Clusters, JoinedForDisplayAreOfOneOrderOfMagnitude) {
    const std::vector<double> times = short_at_first();
    std::vector<std::uint64_t> clusters; // 14: every one narrow
    for (std::size_t i = 0; i < times.size(); ++i)
        clusters.push_back(times[i] < 1e5 ? i % 2 : times[i] < 2e7 ? 2 + i % 4 : 6 + static_cast<std::uint64_t>(times[i] / 1.5e7) % 8);
    EXPECT_LT(check(times, clusters), 10);
}

TEST(Clusters, ThoseThatTheJobFormsAreNarrow) {
    for (const std::vector<double>& times : {wide_spread(), short_at_first()}) EXPECT_LT(check(times, clusters_of(times)), 10);
    for (const std::uint32_t limit : {1u, 2u, 4u}) // too few for what there is: then it is said
        check(wide_spread(), clusters_of(wide_spread(), limit));
}
