// Reports of parts of a profile: sums, comparisons, all forms of one document, what is refused.
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/analysis/findings.hpp"
#include "tools/analysis/function_lines.hpp"
#include "tools/analysis/selected_tree.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/selection.hpp"
#include "tools/text/nearest.hpp"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;
using Json = nlohmann::json;

namespace {

Profile sample(std::uint32_t ranks, bool series = false) {
    const ByteVector bytes = sample_file(ranks, series);
    const NamedBytes file{"profile.lprof", bytes};
    return read_profile(std::span(&file, 1));
}

ReportDocument document(const Profile& profile, const ReportChoice& choice, bool everything = true) {
    const SelectionForm form{everything, false, "FOLDER"};
    return choice.compare.empty() ? selection_report(profile, choice, form) : comparison_report(profile, choice, form);
}

Json json_of(const Profile& profile, const ReportChoice& choice) { return Json::parse(document_json(document(profile, choice))); }

std::map<std::string, Json> by(const Json& rows, const char* key) {
    std::map<std::string, Json> map;
    for (const Json& row : rows) map[row[key].get<std::string>()] = row;
    return map;
}

std::string failure_of(const Profile& profile, const ReportChoice& choice) {
    try {
        check(choice);
        document(profile, choice);
    } catch (const SelectionError& error) {
        return error.what();
    }
    return "";
}

ReportChoice comparing(const char* a, const char* b) {
    ReportChoice choice;
    choice.compare = {parse_side(a), parse_side(b)};
    return choice;
}

} // namespace

TEST(ReportSelection, PhaseAndRankHaveTheSumsOfTheProfile) {
    const Profile p = sample(3);
    ReportChoice choice;
    choice.phase = "timestep";
    Json d = json_of(p, choice);
    EXPECT_EQ(by(d["totals"], "metric")["time"]["total"], 6021);
    EXPECT_EQ(d["selection"]["time"], 6021);
    EXPECT_EQ(by(d["totals"], "metric")["visits"]["total"], 18);
    EXPECT_EQ(by(d["functions"], "function")["MPI_Allreduce"]["time"], 3 * 300 + 2 * 3);
    EXPECT_EQ(by(d["functions"], "function")["MPI_Allreduce"]["highest_rank"], 2);
    choice.ranks = {1};
    d = json_of(p, choice);
    EXPECT_EQ(by(d["totals"], "metric")["time"]["total"], 2007);
    EXPECT_EQ(d["selection"]["ranks"], "1");
    choice = {};
    choice.metrics = {"mpi", "bytes"};
    d = json_of(p, choice);
    EXPECT_EQ(by(d["totals"], "metric")["mpi"]["total"], 600 + 603 + 606);
    std::uint64_t mpi = 0, bytes = 0;
    for (const Json& path : d["call_paths"]) mpi += path["mpi"].get<std::uint64_t>(), bytes += path["bytes"].get<std::uint64_t>();
    EXPECT_EQ(mpi, 600u + 603 + 606);
    EXPECT_EQ(bytes, 96u);
}

TEST(ReportSelection, PathsCountWithWhatIsBelowThem) {
    const Profile p = sample(2);
    ReportChoice choice;
    choice.path = "allREDUCE";
    EXPECT_EQ(json_of(p, choice)["call_paths"].back()["time"], 601 + 1);
    EXPECT_EQ(by(json_of(p, choice)["totals"], "metric")["time"]["total"], 602);
    choice.path = "libsolve";
    EXPECT_EQ(by(json_of(p, choice)["totals"], "metric")["time"]["total"], 2000 + 2007);
    choice.path = "MPI_Alreduce";
    EXPECT_NE(failure_of(p, choice).find("did you mean \"MPI_Allreduce\""), std::string::npos);
}

TEST(ReportSelection, IterationsHaveTheirOwnSumsAndBoundsThatTheWholeAllows) {
    const Profile p = sample(3, true);
    for (const Location& location : p.locations)
        for (const PhaseData& data : location.phases) {
            if (p.phases[data.phase].name != "timestep") continue;
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> whole;
            for_each_cell(data, [&](const Cell& cell) { whole[{cell.path, cell.metric}] += cell.value; });
            const IterationRange range{1, 3};
            const auto cells = selected_cells(p, data, std::span(&range, 1));
            for (const SelectedCell& cell : cells.front()) {
                EXPECT_TRUE(cell.bound == 0 || cell.estimated);
                if (const auto at = whole.find({cell.path, cell.metric}); at != whole.end() && cell.estimated) {
                    EXPECT_LE(cell.bound, std::max(cell.value, at->second)) << cell.path;
                }
            }
        }
    ReportChoice choice;
    choice.iterations = IterationRange{2, 2};
    choice.metrics = {"visits"};
    EXPECT_EQ(json_of(p, choice)["totals"][0]["total"], 3 * 2);
    EXPECT_EQ(json_of(p, choice)["selection"]["first_iteration"], 3);
    EXPECT_EQ(json_of(p, choice)["selection"]["last_iteration"], 3);
}

TEST(ReportSelection, AllFormsShowTheSameNumbers) {
    const Profile p = sample(3);
    ReportChoice choice;
    choice.metrics = {"visits", "bytes"};
    const ReportDocument all = document(p, choice);
    const Json json = Json::parse(document_json(all));
    std::istringstream csv(document_csv(all));
    std::string line;
    std::getline(csv, line);
    EXPECT_EQ(line, "depth,share,visits_inclusive,visits,bytes_inclusive,bytes,estimated,error,place,name,kind,path\r");
    const std::string text = document_text(all, {}), markdown = document_markdown(all);
    for (const Json& path : json["call_paths"]) {
        ASSERT_TRUE(std::getline(csv, line));
        std::string begin = path["depth"].dump() + "," + path["share"].dump();
        for (const char* key : {"visits_inclusive", "visits", "bytes_inclusive", "bytes"}) begin += "," + path[key].dump();
        EXPECT_EQ(line.substr(0, begin.size()), begin);
        EXPECT_NE(text.find(path["name"].get<std::string>()), std::string::npos);
    }
    EXPECT_FALSE(std::getline(csv, line));
    EXPECT_NE(markdown.find("| Call path visits | 24 |"), std::string::npos) << markdown;
    EXPECT_NE(text.find("96 B"), std::string::npos) << text;
}

TEST(ReportSelection, TextKeepsToItsWidthAndItsCharacters) {
    const Profile p = sample(3, true);
    ReportChoice selection, metrics, comparison = comparing("1:3", "4:6");
    selection.iterations = IterationRange{0, 2};
    metrics.metrics = {"time", "mpi", "visits", "bytes", "samples", "execution"};
    metrics.threads = true;
    for (const ReportChoice* choice : {&selection, &metrics, &comparison})
        for (const int width : {80, 100, 160})
            for (const bool unicode : {true, false}) {
                TextStyle style{width, unicode, false};
                const std::string text = document_text(document(p, *choice, false), style);
                std::istringstream lines(text);
                for (std::string line; std::getline(lines, line);) {
                    if (line.find("libprofile report") == std::string::npos) { // commands are not broken
                        EXPECT_LE(columns(line), static_cast<std::size_t>(width)) << line;
                    }
                    for (const char c : line) EXPECT_TRUE(unicode || c >= ' ') << line;
                }
            }
}

TEST(ReportComparison, RanksAgainstTheRest) {
    const Profile p = sample(3);
    const Json d = json_of(p, comparing("rank=0", "rest"));
    const Json time = by(d["totals"], "metric")["time"];
    EXPECT_EQ(time["a"], 3000.0);
    EXPECT_EQ(time["b"], 3013.5);
    EXPECT_EQ(time["difference"], 13.5);
    EXPECT_EQ(d["selection"]["b"], "all but rank 0");
    EXPECT_EQ(by(d["functions"], "function")["MPI_Allreduce"]["difference"], 3.0);
    EXPECT_EQ(d["answers"][0]["question"], "What differs");
}

TEST(ReportComparison, IterationsAreMeansPerIterationAndRank) {
    const Profile p = sample(2, true);
    ReportChoice choice = comparing("1:2", "3:3");
    choice.metrics = {"visits"};
    const Json d = json_of(p, choice);
    EXPECT_EQ(d["totals"][0]["a"], 1.0);
    EXPECT_EQ(d["totals"][0]["b"], 2.0);
    EXPECT_EQ(d["selection"]["a_divisor"], 4);
    for (const Json& f : d["functions"])
        if (f["function"] == "MPI_Allreduce") {
            EXPECT_EQ(f["error"], 0.0) << "counts are exact";
        }
}

TEST(ReportSelection, WhatIsNotThereIsRefusedWithWhatThereIs) {
    const Profile p = sample(3);
    const auto with = [](auto&& change) {
        ReportChoice choice;
        change(choice);
        return choice;
    };
    const std::pair<ReportChoice, const char*> cases[] = {{with([](auto& c) { c.metrics = {"tyme"}; }), "did you mean \"time\""},
                                                          {with([](auto& c) { c.metrics = {"Bytes"}; }), "did you mean \"bytes\""},
                                                          {with([](auto& c) { c.phase = "time_step"; }), "did you mean \"timestep\""},
                                                          {with([](auto& c) {
                                                               c.iterations = IterationRange{6, 8};
                                                           }),
                                                           "it has the iterations 1:6"},
                                                          {with([](auto& c) { c.ranks = {3}; }), "the job had the ranks 0-2"},
                                                          {with([](auto& c) { c.metrics = {"mpi_file_io"}; }), "nothing was measured"},
                                                          {with([](auto& c) {
                                                               c.phase = "", c.iterations = IterationRange{0, 0};
                                                           }),
                                                           "no iterations"},
                                                          {comparing("1:2", "7:8"), "it has the iterations 1:6"},
                                                          {comparing("rank=0-2", "rest"), "no rest"},
                                                          {comparing("rank=0", "1:2"), "not one of each"},
                                                          {comparing("rest", "rank=0"), "write rest second"}};
    for (const auto& [choice, words] : cases) EXPECT_NE(failure_of(p, choice).find(words), std::string::npos) << words << ": " << failure_of(p, choice) << ".";
    EXPECT_THROW(parse_side("ranks 3"), SelectionError);
    EXPECT_THROW(parse_side("rank=x"), SelectionError);
    EXPECT_THROW(parse_side("0:3"), SelectionError);
}

TEST(ReportSelection, HostileProfilesAreShown) {
    const ByteVector bytes = deep_hostile_profile(3000); // CSV and JSON have the whole path in every row
    const NamedBytes file{"profile.lprof", bytes};
    const Profile p = read_profile(std::span(&file, 1));
    ReportChoice choice, bottom_up, source;
    choice.iterations = IterationRange{1, 1};
    bottom_up.bottom_up = true;
    source.source = function_names(p).front();
    for (const ReportChoice* one : {&choice, &bottom_up, &source})
        for (const bool everything : {false, true}) {
            const ReportDocument d = document(p, *one, everything);
            for (const std::string& text : {document_text(d, {}), document_markdown(d), document_csv(d)}) EXPECT_EQ(text.find('\x1b'), std::string::npos);
            EXPECT_NO_THROW(EXPECT_FALSE(Json::parse(document_json(d)).empty()));
        }
    EXPECT_FALSE(findings(p, main_threads(p)).empty());
}

TEST(Answers, TrendAndRanks) {
    const Profile p = sample(3);
    const std::vector<Trend> list = trends(p, main_threads(p));
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].iterations, 6u);
    EXPECT_FALSE(list[0].changes) << "too few iterations for a trend";
    EXPECT_EQ(list[0].slow, std::vector<std::uint64_t>({2}));
    const auto ranks = rank_spread(p, main_threads(p));
    ASSERT_TRUE(ranks.has_value());
    EXPECT_EQ(ranks->busiest, 2u);
    EXPECT_EQ(ranks->idlest, 0u);
    EXPECT_FALSE(rank_spread(sample(1), main_threads(sample(1))).has_value());
}

TEST(NearestName, FewChangesOrAPart) {
    const std::vector<std::string> names = {"time", "mpi", "visits", "p2p_bytes_sent", "p2p_bytes"};
    EXPECT_EQ(nearest_name("tmie", names), "time");
    EXPECT_EQ(nearest_name("VISIT", names), "visits");
    EXPECT_EQ(nearest_name("p2p", names), "p2p_bytes");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name("something_else", names), "");
}

TEST(Layout, NumbersKeepTheirUnits) {
    for (const std::string& line : wrapped("it takes 12.3 ms of 45.6 % and 7 KiB, then more words", 14))
        for (const char* unit : {"ms", "%", "KiB"}) EXPECT_NE(line.rfind(unit, 0), 0u) << line;
}
