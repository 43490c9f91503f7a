#include "tests/unit/tools_recording_builder.hpp"
#include "tools/evaluation/reference_method.hpp"
#include "tools/evaluation/report.hpp"
#include "tools/plot/charts.hpp"
#include "tools/plot/scale.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace libprofile::tools {

namespace {

using namespace test;

/// The example of tools_evaluate_test, tried with K=2 and K=4.
class EvaluateReport : public testing::Test {
  protected:
    void SetUp() override {
        const auto memory = std::make_shared<ReplayMemory>();
        std::vector<Candidate> candidates;
        for (const std::uint32_t k : {2u, 4u})
            candidates.push_back(
                {std::to_string(k), k, true, reference_factory(memory, k, EquivalenceChoice::Strong), reference_factory(memory, k, EquivalenceChoice::None)});
        EvaluationSettings settings;
        settings.series = series;
        evaluation = evaluate(recording, candidates, settings);
    }
    EvaluationContext context() const { return {profile, recording, evaluation, "strong", series}; }

    std::vector<std::size_t> series{static_cast<std::size_t>(CatalogueId::Mpi), static_cast<std::size_t>(CatalogueId::FileBytes)};
    Profile profile = job_of({full(example, example_classes)}, 2);
    Recording recording = extract_recording(profile);
    Evaluation evaluation;
};

std::string line_with(const std::string& text, const std::string& word) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        if (line.find(word) != std::string::npos) return line;
    return "";
}

} // namespace

TEST_F(EvaluateReport, TextAnswersFirst) {
    const std::string text = evaluation_text(context(), TextStyle{});
    EXPECT_NE(text.find("timestep"), std::string::npos);
    EXPECT_NE(text.find("1 of 2 ranks have no iteration"), std::string::npos);
    const std::string two = line_with(text, "   2  ");
    // 25.2 % on average, 63.0 % at most: HandComputedErrorsOfCallPathsAndTheirOrders.
    EXPECT_NE(two.find("25.2 %"), std::string::npos) << two;
    EXPECT_NE(two.find("63.0 %"), std::string::npos) << two;
    EXPECT_LT(text.find("25.2 %"), text.find("Table 2"));
    EXPECT_NE(text.find("=> Iteration times are right to 1 % on average from K=4 on"), std::string::npos) << text;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) EXPECT_LE(columns(line), 100u) << line;
}

TEST_F(EvaluateReport, JsonHasTheSameNumbers) {
    const auto json = nlohmann::json::parse(evaluation_json(context()));
    EXPECT_EQ(json["application"]["iterations"]["most"], 4);
    EXPECT_EQ(json["application"]["mpi_call_paths"]["total"], 5);
    ASSERT_EQ(json["methods"].size(), 2u);
    const auto& two = json["methods"][0];
    EXPECT_EQ(two["method"], "reference K=2");
    EXPECT_NEAR(two["call_paths"]["event_time"]["mean"].get<double>(), 0.252, 1e-12);
    EXPECT_EQ(two["call_paths"]["event_time"]["orders"].size(), json["order_names"].size());
    EXPECT_EQ(two["phantoms_without_equivalence"]["mpi_phantoms"], 2);
    EXPECT_NEAR(two["whole_iterations"]["metrics"]["mpi"]["mean"].get<double>(), 252.0 / 272, 1e-12);
    EXPECT_EQ(two["memory"]["stored_event_bytes"], 32);
    EXPECT_EQ(json["full_recording"]["running_event_bytes"], 176);
}

TEST_F(EvaluateReport, FiguresAreWrittenForMetricsThatOccur) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "evaluate_figures" / "new";
    std::filesystem::remove_all(folder);
    const std::vector<std::string> files = evaluation_figures(context(), folder);
    EXPECT_NE(std::find(files.begin(), files.end(), "series-mpi.svg"), files.end());
    EXPECT_EQ(std::find(files.begin(), files.end(), "series-file_bytes.svg"), files.end());
    for (const std::string& name : files) {
        std::ifstream in(folder / name);
        std::stringstream text;
        text << in.rdbuf();
        EXPECT_EQ(text.str().rfind("<svg ", 0), 0u) << name;
        EXPECT_EQ(text.str().find("nan"), std::string::npos) << name;
        EXPECT_EQ(text.str().find("inf"), std::string::npos) << name;
        EXPECT_NE(text.str().find("</svg>"), std::string::npos) << name;
    }
    std::filesystem::remove_all(folder.parent_path());
}

TEST_F(EvaluateReport, AFolderThatCannotBeMadeIsNamed) { EXPECT_THROW(evaluation_figures(context(), "/proc/no/such"), PlotError); }

TEST(Plot, AxesEndAtRoundNumbers) {
    const Scale linear({0, 0.31, 0.1}, false);
    EXPECT_DOUBLE_EQ(linear.top(), 0.4);
    EXPECT_EQ(linear.ticks().size(), 5u);
    EXPECT_DOUBLE_EQ(linear.position(0.2), 0.5);
    const Scale decades({0, 0.02, 3}, true);
    EXPECT_EQ(decades.position(0), 0);
    EXPECT_DOUBLE_EQ(decades.position(10), 1);
    EXPECT_NEAR(decades.position(0.1), 1.0 / 3, 1e-12);
    EXPECT_EQ(Scale({0, 0}, true).position(0), 0); // nothing to show is no reason to divide by zero
}

TEST(Plot, TextIsEscaped) {
    Svg svg(10, 10);
    svg.text(0, 0, "<a & b>");
    EXPECT_NE(svg.document().find("&lt;a &amp; b&gt;"), std::string::npos);
}

TEST(Plot, ShadesGrowLighter) {
    EXPECT_EQ(shade(0), "#440154");
    EXPECT_EQ(shade(1), "#fde725");
    EXPECT_EQ(shade(2), shade(1));
}

} // namespace libprofile::tools
