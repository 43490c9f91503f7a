// The report: the JSON's schema and sums, the text on ordinary and odd profiles.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/losses.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/report/json.hpp"
#include "tools/report/text.hpp"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;
using Json = nlohmann::json;

namespace {

void check_phases(const Json& part, std::size_t locations) {
    for (const Json& phase : part["phases"]) {
        ASSERT_EQ(phase["wall_ns"].size(), locations);
        ASSERT_EQ(phase["wall_inclusive_ns"].size(), locations);
        std::vector<std::uint64_t> sums(locations);
        std::map<std::uint64_t, bool> known;
        for (const Json& path : phase["call_paths"]) {
            for (const char* key : {"id", "parent", "name", "file", "line", "module", "kind", "exclusive"}) EXPECT_TRUE(path.contains(key)) << key;
            if (!path["parent"].is_null()) {
                EXPECT_TRUE(known.count(path["parent"].get<std::uint64_t>())) << "parents come first";
            }
            known[path["id"].get<std::uint64_t>()] = true;
            for (const Json& values : path["exclusive"]) EXPECT_EQ(values.size(), locations);
            for (std::size_t r = 0; r < locations; ++r) sums[r] += path["exclusive"]["time"][r].get<std::uint64_t>();
        }
        for (std::size_t r = 0; r < locations; ++r) EXPECT_EQ(sums[r], phase["wall_ns"][r].get<std::uint64_t>());
    }
}

} // namespace

TEST(ReportJson, SchemaAndSums) {
    const Json d = Json::parse(report_json(read_one(sample_file(3))));
    EXPECT_EQ(d["job"]["ranks"], 3);
    EXPECT_EQ(d["job"]["mpi"], "Open MPI 4.1.4");
    EXPECT_EQ(d["job"]["command"], "./app input");
    EXPECT_EQ(d["job"]["complete"], true);
    EXPECT_EQ(d["job"]["start"], "2023-11-14T22:13:20Z");
    EXPECT_EQ(d["job"]["configuration"]["CLUSTERS"], "64");
    check_phases(d, 3);
    EXPECT_EQ(d["phases"][0]["name"], "");
    const Json& steps = d["phases"][1];
    EXPECT_EQ(steps["name"], "timestep");
    EXPECT_EQ(steps["kind"], "iterations");
    EXPECT_EQ(steps["iterations"], 6);
    EXPECT_EQ(steps["clusters"], 2);
    EXPECT_EQ(steps["iteration_times"][0], Json({210, 210, 860, 210, 210, 300}));
    EXPECT_EQ(steps["cluster_of_iteration"][2], Json({0, 0, 1, 0, 0, 2}));
    EXPECT_EQ(steps["cluster_profiles"][0][0]["metrics"]["collective_exchange"], 4);
    EXPECT_EQ(d["losses"]["samples_taken"], 150);
    EXPECT_EQ(d["losses"]["samples_lost"], 3);
    EXPECT_EQ(d["losses"]["samples_in_loader"], 6);
    EXPECT_EQ(d["losses"]["per_rank"]["samples_in_loader"], Json({2, 2, 2}));
    EXPECT_EQ(d["losses"]["samples_in_libprofile"], 0);
    EXPECT_EQ(d["losses"]["clocks_lost"], 0);
    EXPECT_EQ(d["job"]["sampling_clock"], Json({"perf", "perf", "perf"}));
    EXPECT_EQ(d["job"]["sampling_rate"], Json({100, 100, 100}));
    EXPECT_EQ(d["losses"]["partial_paths"], 3);
    EXPECT_EQ(d["self"]["ns"], Json({100, 102, 104}));
    EXPECT_NEAR(d["self"]["share"].get<double>(), 306.0 / 9027.0, 1e-12);
    std::map<std::string, Json> metrics;
    for (const Json& m : d["metrics"]) metrics[m["name"].get<std::string>()] = m;
    EXPECT_EQ(metrics["time"]["total"], Json({3000, 3009, 3018}));
    EXPECT_EQ(metrics["time"]["unit"], "ns");
    EXPECT_TRUE(metrics["time"]["parent"].is_null());
    EXPECT_EQ(metrics["execution"]["parent"], "time");
    EXPECT_EQ(metrics["measurement_overhead"]["total"], d["self"]["ns"]);
    EXPECT_EQ(metrics["mpi"]["total"][0], 600);
    EXPECT_EQ(metrics["mpi_collective_synchronization"]["total"][0], 300);
    EXPECT_EQ(metrics["visits"]["total"][0], 8);
    EXPECT_EQ(metrics["bytes"]["total"][0], 32);
    EXPECT_TRUE(d["threads"]["locations"].empty());
    EXPECT_TRUE(d["threads"]["phases"].empty());
}

TEST(ReportJson, MissingRanksAreZeroAndThreadsApart) {
    ProfileBuilder b(2);
    b.job(3);
    b.metrics();
    add_sample_rank(b, 2);
    b.tree(2, 1, 50, {{0, NodeKind::Frame, 0, 0x10}});
    BuiltPhase p;
    p.thread = 1;
    p.wall_ns = 50;
    p.rest = {{1, Metric::Time, 50}};
    b.phase(2, p);
    const Json d = Json::parse(report_json(read_one(b.bytes())));
    EXPECT_EQ(d["job"]["complete"], false);
    EXPECT_EQ(d["job"]["missing_ranks"], Json({0, 1}));
    EXPECT_EQ(d["phases"][0]["wall_ns"], Json({0, 0, 1004}));
    check_phases(d, 3);
    EXPECT_EQ(d["threads"]["locations"], Json::parse(R"([{"rank":2,"thread":1}])"));
    EXPECT_EQ(d["threads"]["phases"][0]["wall_ns"], Json({50}));
    EXPECT_EQ(d["threads"]["metrics"][0]["total"], Json({50}));
    check_phases(d["threads"], 1);
}

TEST(ReportJson, BytesThatAreNoUtf8) {
    ProfileBuilder b(1);
    b.job(1, "./app \xff\xfe");
    b.metrics();
    add_sample_rank(b, 0);
    EXPECT_NO_THROW(EXPECT_FALSE(Json::parse(report_json(read_one(b.bytes()))).empty()));
}

TEST(Losses, MissingRanksComeFirstAndRanksThatWereNotChosenAreNotMissed) {
    ProfileBuilder b(2);
    b.job(3);
    b.metrics();
    add_sample_rank(b, 2);
    const Profile profile = read_one(b.bytes());
    const std::vector<Loss> all = losses(profile);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0].group, LossGroup::Missing);
    EXPECT_EQ(all[0].kind, std::string("missing_ranks"));
    EXPECT_EQ(all[0].count, 2u);
    EXPECT_EQ(all[0].sentence, "no data of ranks 0-1");
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i].group, all[i - 1].group);
    for (const Loss& loss : losses(profile, {2})) EXPECT_NE(loss.kind, std::string("missing_ranks")) << loss.sentence;
    EXPECT_EQ(losses(profile, {1, 2})[0].sentence, "no data of rank 1");
    const Json sentences = Json::parse(report_json(profile))["losses"]["sentences"];
    ASSERT_EQ(sentences.size(), all.size());
    EXPECT_EQ(sentences[0], Json::parse(R"({"group":"missing","kind":"missing_ranks","count":2,"sentence":"no data of ranks 0-1"})"));
}

TEST(ReportText, SaysTheEssentials) {
    for (const bool unicode : {true, false}) {
        TextStyle style;
        style.unicode = unicode;
        const std::string text = report_text(read_one(sample_file(3)), style);
        for (const char* part : {"./app input", "3 ranks", "node1", "sampled 100 times per second of processor time (perf clock)",
                                 "6 samples without a call path: 6 in the dynamic loader", "Open MPI 4.1.4", "complete", "150 samples", "3 lost", "timestep",
                                 "Where the time goes", "Clusters", "MPI_Allreduce", "libsolve.so+0x2000", "collective synchronization"})
            EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(columns(line), 100u) << line;
            if (!unicode) {
                for (const char c : line) EXPECT_GE(c, ' ') << line;
            }
        }
    }
}

TEST(ReportText, PhasesOfWhichNothingIsKnownAreNotInTheTable) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    add_sample_rank(b, 0);
    for (const char* name : {"entered", "begun before the kill"}) {
        BuiltPhase phase;
        phase.name = name;
        phase.kind = PhaseKind::Aggregate;
        phase.instances = phase.wall_inclusive_ns = phase.name == "entered" ? 1 : 0;
        b.phase(0, phase);
    }
    const Profile profile = read_one(b.bytes());
    const std::string text = report_text(profile, TextStyle());
    EXPECT_NE(text.find("  entered "), std::string::npos) << text;
    EXPECT_EQ(text.find("begun before"), std::string::npos) << text;
    EXPECT_EQ(Json::parse(report_json(profile))["phases"].size(), 4u) << "JSON has all of them";
}

TEST(ReportText, OddProfilesDoNotCrash) {
    for (const int width : {80, 100, 300}) {
        TextStyle style;
        style.width = width;
        style.colour = true;
        ProfileBuilder empty(1);
        empty.job(1);
        empty.metrics();
        empty.rank(RankRecord{});
        empty.modules(0, {});
        empty.functions(0, {});
        empty.tree(0, 0, 0, {});
        EXPECT_NE(report_text(read_one(empty.bytes()), style), "");

        const std::string text = report_text(read_one(deep_hostile_profile(20000)), style);
        EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);
        EXPECT_NE(text.find("INCOMPLETE"), std::string::npos);
    }
}
