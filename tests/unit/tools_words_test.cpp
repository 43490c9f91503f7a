// What the report calls things: clusters by one name everywhere, call sites apart, numbers as people write them, sentences that are so.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/findings.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/report/json.hpp"
#include "tools/report/text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

/// Eight steps of one cluster and two of another, which calls MPI_Send in two lines of one function, 130 times as often in the first one, and polls.
/// Nodes: 1 and 2 the function, 3 and 4 the calls.
Profile two_call_sites() {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(sample_rank_record(0));
    b.modules(0, {{"BUILD", "/app"}});
    b.functions(0, {{3, "MPI_Send", TimeCategory::MpiP2p}});
    b.tree(0, 0, 80000 + 70000, {{0, NodeKind::Frame, 0, 0x10}, {0, NodeKind::Frame, 0, 0x18}, {1, NodeKind::Mpi, 3, 0}, {2, NodeKind::Mpi, 3, 0}});
    BuiltPhase phase;
    phase.name = "step";
    phase.kind = PhaseKind::Iterations;
    phase.instances = 10;
    phase.wall_ns = phase.wall_inclusive_ns = 150000;
    phase.clusters = {
        {8, 0, {{3, Metric::Time, 40000}, {3, Metric::Visits, 8}, {4, Metric::Time, 40000}, {4, Metric::Visits, 8}}},
        {2, 0, {{3, Metric::Time, 40000}, {3, Metric::Visits, 260}, {3, Metric::TimedTogether, 99}, {4, Metric::Time, 30000}, {4, Metric::Visits, 2}}}};
    phase.cluster_of_iteration = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    phase.iteration_ns = {10000, 10000, 10000, 10000, 35000, 10000, 10000, 10000, 10000, 35000};
    b.phase(0, phase);
    b.end();
    Profile profile = read_one(b.bytes());
    for (Site& site : profile.sites) site.name = {"exchange", "halo.c", site.offset == 0x10 ? 5u : 9u};
    return profile;
}

/// Ranks that compute so long, in ns, and wait for the rest of `wall`.
Profile computing(const std::vector<std::uint64_t>& ns, std::uint64_t wall) {
    ProfileBuilder b(ns.size());
    b.job(ns.size());
    b.metrics();
    for (std::uint32_t rank = 0; rank < ns.size(); ++rank) {
        b.rank(sample_rank_record(rank));
        b.modules(rank, {{"BUILD", "/app"}});
        b.functions(rank, {{3, "MPI_Recv", TimeCategory::MpiP2p}});
        b.tree(rank, 0, wall, {{0, NodeKind::Frame, 0, 0x10}, {1, NodeKind::Mpi, 3, 0}});
        BuiltPhase phase;
        phase.wall_ns = phase.wall_inclusive_ns = wall;
        phase.rest = {{1, Metric::Time, ns[rank]}, {2, Metric::Time, wall - ns[rank]}};
        b.phase(rank, phase);
    }
    b.end();
    return read_one(b.bytes());
}

std::string said_of(const Profile& profile, const std::string& key) {
    std::string text;
    for (const Finding& finding : findings(profile, main_threads(profile)))
        for (const std::string& sentence : finding.sentences) text += finding.key == key ? sentence + "\n" : "";
    return text;
}

} // namespace

TEST(Words, CallSitesInOneCellAreToldApartByTheirLines) {
    const std::string text = report_text(two_call_sites(), TextStyle{200});
    EXPECT_NE(text.find("MPI_Send in exchange (halo.c:5)"), std::string::npos) << text;
    EXPECT_NE(text.find("MPI_Send in exchange (halo.c:9)"), std::string::npos) << text;
}

TEST(Words, RatiosAreNumbersAndWhatIsChanceIsNotNamed) {
    const std::string text = report_text(two_call_sites(), TextStyle{200});
    EXPECT_NE(text.find("66x call path visits"), std::string::npos) << text; // 131 calls an iteration in the place of 2
    EXPECT_EQ(text.find("e+0"), std::string::npos) << text;
    const std::size_t clusters = text.find("Clusters of");
    ASSERT_NE(clusters, std::string::npos);
    EXPECT_EQ(text.substr(clusters, text.find("Hot spots") - clusters).find("timed together"), std::string::npos) << text;
}

TEST(Words, AClusterHasOneNameInTextAndJson) {
    for (const Profile& profile : {two_call_sites(), read_one(sample_file(3, true))}) {
        const nlohmann::json report = nlohmann::json::parse(report_json(profile));
        std::istringstream text(report_text(profile, TextStyle{200}));
        std::set<std::string> names, kinds, shown;
        for (const auto& phase : report["phases"])
            if (phase["kind"] == "iterations") {
                for (const auto& of_rank : phase["cluster_names"])
                    for (const auto& name : of_rank) names.insert(name.get<std::string>());
                for (const auto& kind : phase["kinds"]["kinds"]) kinds.insert(kind["name"].get<std::string>());
            }
        bool is_table = false;
        for (std::string line, name; std::getline(text, line);) {
            is_table = (is_table && !line.empty()) || line.starts_with("Clusters of");
            if (is_table && line.find(" %)") != std::string::npos) {
                std::istringstream(line) >> name;
                shown.insert(name);
            }
        }
        ASSERT_FALSE(shown.empty());
        for (const std::string& name : shown) {
            EXPECT_TRUE(names.contains(name)) << name << " is no name in JSON";
            EXPECT_TRUE(kinds.contains(name.substr(0, name.find_first_of("0123456789")))) << name << " has no kind";
        }
    }
}

TEST(Words, RanksThatHardlyComputeAreNotCalledBalanced) {
    const std::string differ = said_of(computing({1567, 433}, 1'000'000), "ranks");
    EXPECT_EQ(differ.find("hardly any"), std::string::npos) << differ;
    EXPECT_NE(differ.find("56.7 % over the mean"), std::string::npos) << differ;
    EXPECT_NE(differ.find("so little that it hardly matters"), std::string::npos) << differ;
    const std::string alike = said_of(computing({500'000, 505'000}, 1'000'000), "ranks");
    EXPECT_NE(alike.find("hardly any"), std::string::npos) << alike;
    EXPECT_EQ(alike.find("over the mean"), std::string::npos) << alike;
    EXPECT_NE(said_of(computing({500'000, 250'000}, 1'000'000), "ranks").find("33.3 % over the mean"), std::string::npos);
}

TEST(Words, FewIterationsShowNoTrend) {
    const std::string few = said_of(two_call_sites(), "change");
    EXPECT_NE(few.find("10 iterations of \"step\" took 10.0 \xc2\xb5s to 35.0 \xc2\xb5s; fewer than 20 show no trend"), std::string::npos) << few;
    EXPECT_EQ(few.find("each"), std::string::npos) << few;
}
