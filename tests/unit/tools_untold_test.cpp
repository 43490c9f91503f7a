// Iterations of which a profile does not say what lay inside them: nothing claims to know what it was.
#include "tests/unit/tools_nested_profile.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/kinds.hpp"
#include "tools/report/selection.hpp"
#include "tools/view/value_map.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::json;
using test::in_steps;
using test::in_sweeps;
using test::nested;
using test::phase_of;

/// As of a killed job: of the steps from number `noted` on, from 0, nobody says what lay inside.
Profile killed(std::uint64_t noted) {
    test::Inside known = in_steps;
    known.erase(known.lower_bound(noted), known.end());
    return nested(known, in_sweeps, noted);
}

ReportChoice of_steps(std::uint64_t first, std::uint64_t last, const char* metric = "") {
    ReportChoice choice;
    choice.phase = "step";
    choice.iterations = IterationRange{first, last};
    if (*metric != 0) choice.metrics = {metric};
    return choice;
}

ReportChoice comparing(const char* a, const char* b) {
    ReportChoice choice;
    choice.phase = "step";
    choice.compare = {parse_side(a), parse_side(b)};
    return choice;
}

ReportDocument document(const Profile& profile, const ReportChoice& choice) {
    const SelectionForm form{true, false, "FOLDER"};
    return choice.compare.empty() ? selection_report(profile, choice, form) : comparison_report(profile, choice, form);
}

Json row(const Json& rows, const char* key, const std::string& value) {
    for (const Json& one : rows)
        if (one[key] == value) return one;
    return {};
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

} // namespace

TEST(Untold, EachIterationSaysHowMuchOfItsTimeThatIs) {
    const std::vector<std::uint64_t> inside = {1021, 12, 3020};
    for (std::uint64_t noted = 0; noted <= 3; ++noted) {
        const Profile p = killed(noted);
        const RowsInside rows = rows_inside(p, p.locations[0], phase_of(p, "step"));
        const IterationRange each[] = {{0, 0}, {1, 1}, {2, 2}};
        const WithInside cells = cells_with_inside(p, p.locations[0], phase_of(p, "step"), each);
        const WithInside clusters = inside_of_clusters(p, p.locations[0], phase_of(p, "step"));
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(rows.is_told(i), i < noted) << i << " of " << noted;
            EXPECT_EQ(rows.untold[i], i < noted ? 0 : inside[i]) << i << " of " << noted;
            EXPECT_EQ(cells.untold[i], rows.untold[i]) << i << " of " << noted;
            all += rows.untold[i];
        }
        EXPECT_EQ(clusters.untold[0], all) << "the one cluster has all iterations";
    }
}

TEST(Untold, WithoutMeasuredValuesWhatWasNotedIsBelieved) {
    Profile p = killed(2);
    for (PhaseData& data : p.locations[0].phases) data.series.reset();
    const RowsInside rows = rows_inside(p, p.locations[0], phase_of(p, "step"));
    EXPECT_TRUE(rows.is_told(0));
    EXPECT_FALSE(rows.is_told(2)) << "whatever estimates add up to";
    const IterationRange ranges[] = {{0, 1}, {2, 2}};
    const WithInside cells = cells_with_inside(p, p.locations[0], phase_of(p, "step"), ranges);
    EXPECT_EQ(cells.untold[0], 0u);
    EXPECT_NE(cells.untold[1], 0u);
}

TEST(Untold, IterationsWithNothingInsideAreKnownWhateverRanWhenTheJobWasKilled) {
    Profile p = killed(2);
    for (PhaseData& data : p.locations[0].phases) {
        data.series.reset();
        data.inside.reset();
        if (p.phases[data.phase].name == "sweep") {
            data.iteration_ns = {10, 11, 12, 13};
            data.wall_inclusive_ns += 1000; // one that had not ended
        }
    }
    const PhaseData& sweeps = phase_of(p, "sweep");
    const IterationRange range{1, 2};
    EXPECT_EQ(cells_with_inside(p, p.locations[0], sweeps, std::span(&range, 1)).untold.front(), 0u);
    EXPECT_EQ(inside_of_clusters(p, p.locations[0], sweeps).untold.front(), 0u);
    EXPECT_TRUE(rows_inside(p, p.locations[0], sweeps).is_told(3));
}

TEST(Untold, AReportOfIterationsHasTheirTimeAndNoOtherMetric) {
    const Profile p = killed(2);
    const Json known = Json::parse(document_json(document(p, of_steps(0, 1)))), unknown = Json::parse(document_json(document(p, of_steps(0, 2))));
    EXPECT_EQ(row(known["totals"], "metric", "mpi")["total"], 201 + 21 + 12 + 250) << "a quarter of solving, in the first step, is MPI";
    EXPECT_EQ(row(unknown["totals"], "metric", "time")["total"], 303 + 46 + 4000 + 7);
    for (const char* metric : {"mpi", "execution", "visits"}) EXPECT_TRUE(row(unknown["totals"], "metric", metric)["total"].is_null()) << metric;
    EXPECT_EQ(row(unknown["functions"], "function", "(no call path)")["time"], 3020);
    EXPECT_EQ(row(unknown["functions"], "function", "MPI_Allreduce")["estimated"], 1);
    const std::string text = document_text(document(p, of_steps(0, 2)), {});
    EXPECT_NE(text.find("not known"), std::string::npos) << text;
    try {
        document(p, of_steps(2, 2, "bytes"));
        ADD_FAILURE() << "what is not known was said to be nothing";
    } catch (const SelectionError& error) {
        EXPECT_EQ(std::string(error.what()).find("nothing was measured"), std::string::npos) << error.what();
    }
}

TEST(Untold, AComparisonSaysOnWhichSide) {
    const Profile p = killed(1);
    const Json one = Json::parse(document_json(document(p, comparing("1:1", "2:3"))));
    EXPECT_EQ(row(one["totals"], "metric", "mpi")["a"], 100 + 21 + 250);
    EXPECT_TRUE(row(one["totals"], "metric", "mpi")["b"].is_null());
    EXPECT_TRUE(row(one["totals"], "metric", "mpi")["difference"].is_null());
    EXPECT_EQ(row(one["totals"], "metric", "time")["difference"], (101 + 12 + 102 + 3020) / 2.0 - 1121);
    for (const Json& function : one["functions"]) EXPECT_TRUE(function["function"] == "(no call path)" || function["difference"].is_null()) << function;
    const std::string text = document_text(document(p, comparing("1:1", "2:3")), {});
    EXPECT_EQ(count(text, "of the time of A"), 0u) << text;
    EXPECT_EQ(count(text, "of the time of B"), 1u) << text;
    EXPECT_EQ(text.find("Mostly:"), std::string::npos) << text;
    const std::string both = document_text(document(killed(0), comparing("1:1", "2:3")), {});
    EXPECT_TRUE(count(both, "of the time of A") == 1 && count(both, "of the time of B") == 1) << both;
}

TEST(Untold, ClustersKindsAndMapsDoNotGuess) {
    for (const bool told : {true, false}) {
        const Profile p = killed(told ? 3 : 2);
        const PhaseData& steps = phase_of(p, "step");
        const std::vector<ClusterSummary> clusters = summarize_clusters(p, p.locations[0], steps, spot_table(p));
        ASSERT_EQ(clusters.size(), 1u);
        EXPECT_EQ(clusters[0].is_told, told);
        const KindsOfPhase kinds = match_kinds(p, {&p.locations[0]}, steps.phase);
        ASSERT_EQ(kinds.kinds.size(), 1u);
        EXPECT_EQ(kinds.kinds[0].compute.has_value(), told);
        if (told) {
            EXPECT_NEAR(*kinds.kinds[0].compute, (3000 + 7) / 3.0, 0.5) << "solving and napping, in each of three steps";
        }
        std::vector<MapMetric> metrics = map_metrics(p, {&p.locations[0]}, steps.phase);
        std::erase_if(metrics, [](const MapMetric& metric) { return metric.name != "mpi" && metric.name != "iteration_time"; });
        ASSERT_EQ(metrics.size(), 2u);
        const std::vector<MapValues> maps = map_values(p, {&p.locations[0]}, steps.phase, 3, metrics);
        EXPECT_EQ(maps[0].values, (std::vector<std::uint64_t>{1121, 113, 3122}));
        EXPECT_EQ(maps[1].values, (std::vector<std::uint64_t>{100 + 21 + 250, 113, told ? 102 + 13 + 750 : no_value}));
        EXPECT_EQ(maps[1].is_told, told);
    }
}

TEST(Untold, PartsOfAPhaseThatHasOneProfileHaveNoBound) {
    const Profile p = nested(in_steps, in_sweeps);
    const Json report = Json::parse(document_json(document(p, of_steps(2, 2))));
    std::size_t scaled = 0;
    for (const Json& path : report["call_paths"])
        if (path["time"].get<std::uint64_t>() > 700) { // solving: 3000 of 4000 ns of samples and MPI calls
            EXPECT_TRUE(path["error"].is_null()) << path;
            ++scaled;
        }
    EXPECT_EQ(scaled, 2u);
}

} // namespace libprofile::tools
