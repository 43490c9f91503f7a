// Comparison of runs: what differs, on which ranks, whether by chance, and what it is called.
#include "tools/comparison/comparison.hpp"
#include "tools/comparison/comparison_document.hpp"
#include "tools/comparison/comparison_words.hpp"
#include "tools/comparison/interval.hpp"
#include "tools/comparison/side_by_side.hpp"
#include "tools/comparison/time_use.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace libprofile::tools {
namespace {

/// A run of several ranks, whose call paths "main/f/g" have known times in seconds.
class KnownRun {
  public:
    explicit KnownRun(std::size_t ranks) : values_(ranks), visits_(ranks) {
        for (std::uint32_t r = 0; r < ranks; ++r) frame_.places.push_back({r, 0, "host"});
        frame_.add_node(0, "program", "app");
    }
    KnownRun& add(const std::string& path, const std::vector<double>& seconds, double visits = 0, const std::string& file = "cg.cpp") {
        std::uint32_t node = 0;
        for (std::size_t at = 0; at != std::string::npos;) {
            const std::size_t end = path.find('/', at);
            const std::string name = path.substr(at, end == std::string::npos ? end : end - at), key = path.substr(0, end);
            at = end == std::string::npos ? end : end + 1;
            const bool is_call = name.starts_with("MPI_") || name.starts_with("(");
            if (!nodes_.contains(key))
                nodes_[key] = frame_.add_node(node, is_call ? "mpi" : "function", name, is_call ? "" : file, is_call ? 0 : 88, "/bin/app");
            node = nodes_[key];
        }
        for (std::size_t r = 0; r < values_.size(); ++r) {
            values_[r][node] += (seconds.size() == 1 ? seconds[0] : seconds[r]) * 1e9;
            if (visits != 0) visits_[r][node] += visits;
        }
        return *this;
    }
    Run run(const std::string& place) {
        for (const auto& [metric, rows] : {std::pair("time", &values_), std::pair("visits", &visits_)}) {
            FrameColumn& column = frame_.columns.emplace_back();
            column.metric = metric;
            column.unit = metric == std::string("time") ? "ns" : "count";
            for (const auto& row : *rows) {
                for (const auto& [node, value] : row) {
                    column.node.push_back(node);
                    column.value.push_back(value);
                }
                column.begin.push_back(column.node.size());
            }
        }
        frame_.check();
        Run run = run_of(frame_, place, "hatchet", {});
        run.is_error_known = true;
        return run;
    }

  private:
    Frame frame_;
    std::map<std::string, std::uint32_t> nodes_;
    std::vector<std::map<std::uint32_t, double>> values_, visits_;
};

/// 16 ranks of a solver; ranks 12-15 compute longer in spmv, and the others wait for them.
Run solver(double slow, double noise, const std::string& place) {
    std::vector<double> spmv, wait;
    for (int r = 0; r < 16; ++r) {
        const double own = 30 + (r >= 12 ? slow : 0);
        spmv.push_back(own + noise);
        wait.push_back(110 - own + slow);
    }
    return KnownRun(16)
        .add("main/cg_solve/spmv", spmv, 1000)
        .add("main/cg_solve/MPI_Allreduce", wait, 1000)
        .add("main/checkpoint/MPI_File_write", {slow > 0 ? 2.4 : 3.0})
        .add("main/other", {7})
        .run(place);
}

Comparison compared(std::vector<RunGroup>& groups) { return compare_groups(groups, {}); }

TEST(Comparison, TheFirstScreenNamesWhatIsSlowerWhereAndWhoWaitsForIt) {
    std::vector<RunGroup> groups(2);
    groups[0].name = "yesterday";
    groups[1].name = "today";
    for (const double noise : {-0.1, 0.0, 0.1}) {
        groups[0].runs.push_back(solver(0, noise, "a"));
        groups[1].runs.push_back(solver(9.1, noise, "b"));
    }
    const Comparison comparison = compared(groups);
    const ComparisonWords words = words_of(comparison, comparison.groups.at(0), groups);
    EXPECT_EQ(words.head, "today is 7.1 % slower: 128.5 s, yesterday 120.0 s (three runs each, spread 0.2 s)");
    ASSERT_EQ(words.lines.size(), 3u);
    EXPECT_EQ(words.lines[0].use, "waiting");
    EXPECT_EQ(words.lines[0].amount, "+9.1 s");
    EXPECT_EQ(words.lines[0].text, "MPI_Allreduce in cg_solve (cg.cpp), ranks 0-11; what they wait for:");
    EXPECT_EQ(words.lines[1].amount, "+9.1 s");
    EXPECT_EQ(words.lines[1].use, "computing");
    EXPECT_EQ(words.lines[1].text, "on ranks 12-15: spmv (cg.cpp:88), same calls, 1.30 times as long (+-0.2 s)");
    EXPECT_EQ(words.lines[2].amount, "-0.6 s");
    EXPECT_EQ(words.lines[2].use, "I/O");
}

TEST(Comparison, WhatIsCertainOfOneCallerIsNotHiddenByChanceInTheOthers) {
    // kernel() varies by seconds where solve() calls it; that refine() calls it on rank 1 is new.
    std::vector<RunGroup> groups(2);
    groups[0].name = "old";
    groups[1].name = "new";
    for (const double noise : {-9.0, 2.0, 8.0})
        for (const bool is_new : {false, true}) {
            KnownRun known(2);
            known.add("main/solve/kernel", {50 + (is_new ? -noise : noise), 50 + noise / 2});
            if (is_new) known.add("main/refine/kernel", {0, 4 + noise / 100});
            groups[is_new].runs.push_back(known.run("run"));
        }
    const Comparison comparison = compared(groups);
    const GroupComparison& one = comparison.groups.at(0);
    std::map<std::string, const ActivityChange*> by_caller;
    for (const ActivityChange& a : one.activities) by_caller[a.activity.name + " < " + a.activity.below] = &a;
    ASSERT_TRUE(by_caller.contains("kernel < refine"));
    ASSERT_TRUE(by_caller.contains("kernel < (other callers)"));
    EXPECT_NEAR(by_caller["kernel < refine"]->change.difference(), 2e9, 1e-3 * 2e9);
    EXPECT_EQ(by_caller["kernel < refine"]->ranks, std::vector<std::uint32_t>{1});
    EXPECT_TRUE(by_caller["kernel < (other callers)"]->change.is_chance());
    EXPECT_EQ(words_of(comparison, one, groups).lines.at(0).text, "on rank 1: kernel (cg.cpp:88) called by refine, only in new (+-0.21 s)");
}

TEST(Comparison, WhoCallsTheWrapperThatWaitsIsNamed) {
    std::vector<RunGroup> groups(2);
    groups[0].name = "old";
    groups[1].name = "new";
    for (const double noise : {-0.01, 0.0, 0.01})
        for (const bool is_new : {false, true})
            groups[is_new].runs.push_back(KnownRun(2)
                                              .add("main/cg_solve", {9 + noise, is_new ? 11.0 : 9.0})
                                              .add("main/cg_solve/sum/reduce/MPI_Allreduce", {is_new ? 5 + noise : 3 + noise, 3.0}, 100)
                                              .add("main/gmres/sum/reduce/MPI_Allreduce", {3 - noise, 3 + noise}, 100)
                                              .run("run"));
    const Comparison comparison = compared(groups);
    const ComparisonWords words = words_of(comparison, comparison.groups.at(0), groups);
    ASSERT_EQ(words.lines.size(), 2u);
    EXPECT_EQ(words.lines[0].text, "MPI_Allreduce in reduce (cg.cpp) called by cg_solve, rank 0 (+-0.02 s); what they wait for:");
    EXPECT_EQ(words.lines[1].text, "on rank 1: cg_solve (cg.cpp:88), 1.22 times as long");
}

TEST(Comparison, AFunctionThatIsSlowerBelowAllCallersStaysOneRow) {
    std::vector<RunGroup> groups(2);
    for (const bool is_new : {false, true})
        groups[is_new].runs.push_back(KnownRun(2).add("main/solve/kernel", {is_new ? 6.0 : 5.0}).add("main/refine/kernel", {is_new ? 6.0 : 5.0}).run("run"));
    const Comparison comparison = compared(groups);
    ASSERT_EQ(comparison.groups[0].activities.size(), 1u);
    EXPECT_EQ(comparison.groups[0].activities[0].activity.below, "");
}

TEST(Comparison, AFunctionThatIsNewBelowAllCallersStaysOneRow) {
    std::vector<RunGroup> groups(2);
    groups[0].runs.push_back(KnownRun(1).add("main/solve", {5}).add("main/refine", {5}).run("run"));
    groups[1].runs.push_back(
        KnownRun(1).add("main/solve", {5}).add("main/refine", {5}).add("main/solve/kernel", {3}).add("main/refine/kernel", {2}).run("run"));
    const Comparison comparison = compared(groups);
    ASSERT_EQ(comparison.groups[0].activities.size(), 1u);
    EXPECT_EQ(comparison.groups[0].activities[0].activity.below, "");
}

TEST(Comparison, DifferencesOfAllFunctionsAddUpToTheWhole) {
    std::mt19937 random(1);
    for (int round = 0; round < 100; ++round) {
        std::vector<RunGroup> groups(3);
        for (RunGroup& group : groups)
            for (unsigned run = 0; run < 1 + random() % 3; ++run) {
                KnownRun known(4);
                known.add("main", {1});
                for (int i = 0; i < 20; ++i) {
                    std::string path = "main";
                    for (unsigned depth = random() % 4; depth-- > 0;) path += "/" + std::string(1, static_cast<char>('a' + random() % 4));
                    if (random() % 3 == 0) path += "/MPI_Waitall";
                    known.add(path, {static_cast<double>(random() % 100), 1, 2, static_cast<double>(random() % 50)});
                }
                group.runs.push_back(known.run("run"));
            }
        const Comparison comparison = compared(groups);
        ASSERT_EQ(comparison.groups.size(), 2u);
        for (const GroupComparison& one : comparison.groups) {
            double functions = 0, paths = 0, uses = 0;
            for (const ActivityChange& a : one.activities) functions += a.change.difference();
            for (const PathChange& p : one.paths) paths += p.change.difference();
            for (const Change& c : one.by_use) uses += c.difference();
            for (const double sum : {functions, paths, uses}) ASSERT_NEAR(sum, one.mean.difference(), 1);
        }
    }
}

TEST(Comparison, RunsThatOnlyChanceTellsApartAreSaidToBeEqual) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 1);
    int claimed = 0;
    constexpr int rounds = 400;
    for (int round = 0; round < rounds; ++round) {
        std::vector<RunGroup> groups(2);
        for (RunGroup& group : groups)
            for (int run = 0; run < 3; ++run) group.runs.push_back(KnownRun(1).add("main/f", {100 + noise(random)}).run("run"));
        claimed += !compared(groups).groups[0].whole.is_chance();
    }
    EXPECT_LE(claimed, rounds / 10); // 95 % intervals
    EXPECT_GE(claimed, rounds / 200);
}

TEST(Comparison, ErrorsOfSamplesAreThoseOfIndependentRanks) {
    std::vector<RunGroup> groups(2);
    for (RunGroup& group : groups) {
        tools::Run run = KnownRun(4).add("main/f", {5}).add("main/g", {5}).run("run");
        for (int rank = 0; rank < 4; ++rank) {
            CallTable::Sampled& sampled = run.sampled.emplace_back();
            sampled.strata = {{10e9, 10e9 * 10e9 / 1000}}; // 1000 samples
            sampled.parts = {{}, {}, {{0, 5e9}}, {{0, 5e9}}};
            sampled.is_unknown.resize(4);
        }
        group.runs.push_back(std::move(run));
    }
    groups[1].runs[0].frame.columns[0].value[0] += 1e8; // of rank 0
    const Comparison comparison = compared(groups);
    ASSERT_EQ(comparison.groups[0].activities.size(), 1u);
    const Change& change = comparison.groups[0].activities[0].change;
    // p = 1/2 of 10 s with 1000 samples on each of 4 ranks and 2 runs: 1.96 sqrt(1/4 / 1000) * 10 s / sqrt(4) * sqrt(2)
    EXPECT_NEAR(change.error, 1.96 * std::sqrt(0.25 / 1000) * 10e9 / 2 * std::sqrt(2.0), 0.01 * change.error);
    EXPECT_TRUE(change.is_chance());
    EXPECT_EQ(comparison.groups[0].by_use[0].error, 0) << "all computing together is exact";
}

TEST(Comparison, DifferentNumbersOfRanksAndForeignRunsAreSaid) {
    std::vector<RunGroup> groups(2);
    groups[0] = {"two", {KnownRun(2).add("main/f", {5}).run("a")}};
    groups[1] = {"four", {KnownRun(4).add("main/f", {3}).run("b")}};
    const Comparison comparison = compared(groups);
    EXPECT_NE(comparison.groups[0].remarks.at(0).find("four ran on 4 ranks, two on 2 ranks"), std::string::npos);
    groups[0] = {"two", {KnownRun(2).add("main/f", {5}).run("a")}};
    groups[1] = {"other", {KnownRun(2).add("start/g", {5}).run("b")}};
    EXPECT_THROW(compared(groups), FrameError);
    groups[0] = {"two", {KnownRun(2).add("main/f", {5}).run("a")}};
    groups[1] = {"other", {KnownRun(2).add("main/f", {5}).run("b")}};
    groups[1].runs[0].tool = "hpctoolkit";
    EXPECT_THROW(compared(groups), FrameError);
}

TEST(Comparison, AllFormsHaveTheSameNumbers) {
    std::vector<RunGroup> groups(2);
    groups[0] = {"old", {solver(0, 0, "a")}};
    groups[1] = {"new", {solver(9.1, 0, "b")}};
    const Comparison comparison = compared(groups);
    const auto json = nlohmann::json::parse(document_json(comparison_document(comparison, groups, {"compare", 0, true})));
    EXPECT_EQ(json["runs"][0]["difference"], comparison.groups[0].whole.difference());
    EXPECT_EQ(json["functions"].size(), comparison.groups[0].activities.size());
    EXPECT_EQ(json["functions"][0]["function"], "MPI_Allreduce");
    EXPECT_EQ(json["functions"][0]["caller"], "cg_solve");
    const std::string markdown = document_markdown(comparison_document(comparison, groups, {"compare", 0, false}));
    EXPECT_NE(markdown.find("new is 7.1 % slower"), std::string::npos);
    const std::string csv = document_csv(comparison_document(comparison, groups, {"compare", 0, true}));
    EXPECT_EQ(csv.substr(0, csv.find('\r')), "run,difference,error,before,after,relative,chance,kind,path");
}

TEST(TimeUse, WhatAFunctionDoesIsKnownByItsName) {
    Frame frame;
    frame.add_node(0, "program", "app");
    const auto use = [&](std::uint32_t node) { return std::string(time_use_name(time_uses(frame)[node])); };
    const std::uint32_t f = frame.add_node(0, "function", "f", "", 0, "/bin/app");
    const std::uint32_t reduce = frame.add_node(f, "function", "MPI_Allreduce", "", 0, "/lib/libmpi.so");
    const std::uint32_t inside = frame.add_node(reduce, "function", "progress", "", 0, "/lib/libmpi.so");
    EXPECT_EQ(use(f) + use(reduce) + use(inside), "computingwaitingwaiting");
    EXPECT_EQ(use(frame.add_node(f, "function", "mpi_waitall_", "")), "waiting");
    EXPECT_EQ(use(frame.add_node(f, "function", "PMPI_Isend", "")), "MPI");
    EXPECT_EQ(use(frame.add_node(f, "mpi", "MPI_Init", "")), "MPI");
    EXPECT_EQ(use(frame.add_node(f, "mpi", "MPI_File_write_all", "")), "I/O");
    const std::uint32_t own = frame.add_node(f, "mpi", "MPI_Reduce", "");
    EXPECT_EQ(use(frame.add_node(own, "function", "my_sum", "")), "computing") << "MPI calls back";
    EXPECT_EQ(use(frame.add_node(f, "function", "__GI___libc_write", "", 0, "/lib/libc.so.6")), "I/O");
    EXPECT_EQ(use(frame.add_node(f, "function", "write", "", 0, "/bin/app")), "computing") << "a function of the program";
    EXPECT_EQ(use(frame.add_node(f, "openmp", "omp implicit barrier", "")), "waiting");
    EXPECT_EQ(use(frame.add_node(f, "other", "(off CPU)", "")), "off CPU");
    EXPECT_EQ(use(frame.add_node(f, "other", "(off CPU: lock)", "")), "waiting");
    EXPECT_EQ(use(frame.add_node(0, "other", "(libprofile)", "")), "libprofile");
}

TEST(Interval, StudentsPointsAreThoseOfTheTables) {
    for (const auto& [degrees, t] :
         {std::pair(1.0, 12.706), {2.0, 4.303}, {4.0, 2.776}, {9.0, 2.262}, {11.0, 2.201}, {18.0, 2.101}, {40.0, 2.021}, {1e9, 1.960}})
        EXPECT_NEAR(student_t(degrees), t, 0.003 * t) << degrees;
    EXPECT_EQ(student_t(0.5), student_t(1));
}

TEST(Interval, TheLimitItselfIsNoGrowthAboveIt) {
    const auto change = [](double before, double after, double error = 0) { return Change{before, after, error}; };
    EXPECT_FALSE(change(100, 129).is_growth_above(29)) << "0.29 * 100 is less than 29 in binary";
    EXPECT_TRUE(change(100, 130).is_growth_above(29));
    EXPECT_FALSE(change(100, 130, 31).is_growth_above(29)) << "chance";
    EXPECT_TRUE(change(0, 1).is_growth_above(29));
    EXPECT_FALSE(change(0, 0).is_growth_above(0));
}

TEST(Interval, OfASingleRunTheOthersSpreadHoldsToo) {
    const RunValue one[] = {{10, 0}}, three[] = {{11, 0}, {12, 0}, {13, 0}}, sampled[] = {{10, 0.3}}, unknown[] = {{10, std::nan("")}};
    EXPECT_EQ(change_between(one, one).error, 0);
    EXPECT_NEAR(change_between(one, three).error, 4.3027 * std::sqrt(1 + 1 / 3.0), 1e-3);
    EXPECT_NEAR(change_between(sampled, sampled).error, 0.3 * std::sqrt(2.0), 1e-12);
    EXPECT_TRUE(std::isnan(change_between(one, unknown).error));
    EXPECT_FALSE(change_between(one, unknown).is_chance());
}

/// By names from the top, such as "app > main > cg_solve".
std::map<std::string, const SideRow*> rows_by_path(const SideTree& tree) {
    std::map<std::string, const SideRow*> rows;
    std::vector<std::string> paths;
    for (const SideRow& row : tree.rows) {
        paths.push_back((row.parent < 0 ? "" : paths[static_cast<std::size_t>(row.parent)] + " > ") + row.label.name);
        rows[paths.back()] = &row;
    }
    return rows;
}

const SideTree& tree_called(const std::vector<SideTree>& trees, const std::string& name) {
    return *std::find_if(trees.begin(), trees.end(), [&](const SideTree& tree) { return tree.name == name; });
}

TEST(SideBySide, EveryTreeAddsUpToTheWholeAndHasTheDifferencesOfTheComparison) {
    std::vector<RunGroup> groups(2);
    groups[0].name = "yesterday";
    groups[1].name = "today";
    for (const double noise : {-0.1, 0.0, 0.1}) {
        groups[0].runs.push_back(solver(0, noise, "a"));
        groups[1].runs.push_back(solver(9, noise, "b"));
    }
    const Comparison comparison = compared(groups);
    const GroupComparison& one = comparison.groups[0];
    const std::vector<SideTree> trees = side_by_side(groups, "time");
    for (const SideTree& tree : trees) {
        std::map<std::int64_t, double> before, after; // by parent: sums over its rows
        for (const SideRow& row : tree.rows) {
            before[row.parent] += row.changes[0].before;
            after[row.parent] += row.changes[0].after;
        }
        const double places = tree.name == "ranks" ? 16 : 1;
        EXPECT_NEAR(before[-1] / places, one.mean.before, 1) << tree.name;
        EXPECT_NEAR(after[-1] / places, one.mean.after, 1) << tree.name;
        if (tree.name != "callers") // the callers of a function that the program calls, too, have less than it
            for (const auto& [parent, sum] : before) {
                if (parent < 0) continue;
                EXPECT_NEAR(sum, tree.rows[static_cast<std::size_t>(parent)].changes[0].before, 1) << tree.name << " " << parent;
            }
        EXPECT_EQ(tree.left_out, 0u);
        EXPECT_FALSE(tree.is_cut);
    }
    const auto same = [](const SideRow* row, const Change& change) {
        EXPECT_DOUBLE_EQ(row->changes[0].before, change.before);
        EXPECT_DOUBLE_EQ(row->changes[0].after, change.after);
        EXPECT_DOUBLE_EQ(row->changes[0].error, change.error);
    };
    const auto kinds = rows_by_path(tree_called(trees, "kinds")), callers = rows_by_path(tree_called(trees, "callers"));
    for (std::size_t k = 0; k < time_use_count; ++k)
        if (one.by_use[k].before != 0) same(kinds.at(time_use_name(static_cast<TimeUse>(k))), one.by_use[k]);
    for (const ActivityChange& activity : one.activities)
        if (activity.activity.below.empty()) {
            same(kinds.at(time_use_name(activity.activity.use) + (" > " + activity_text(activity.activity))), activity.change);
            if (activity.activity.caller.empty()) same(callers.at(activity.activity.name), activity.change);
        }
    EXPECT_GT(callers.at("spmv > cg_solve > main")->changes[0].difference(), 2e9);
    EXPECT_FALSE(callers.at("spmv")->changes[0].is_chance());
    const auto ranks = rows_by_path(tree_called(trees, "ranks"));
    EXPECT_NEAR(ranks.at("rank 13 > computing")->changes[0].difference(), 9e9, 1);
    EXPECT_NEAR(ranks.at("rank 3 > waiting")->changes[0].difference(), 9e9, 1);
    const auto modules = rows_by_path(tree_called(trees, "modules"));
    EXPECT_TRUE(modules.contains("app > cg.cpp > spmv"));
}

TEST(SideBySide, ARowHasItsOwnTimeAsAChildAndRecursionEnds) {
    std::vector<RunGroup> groups(2);
    for (const double seconds : {1.0, 2.0})
        groups[seconds == 1 ? 0 : 1].runs.push_back(
            KnownRun(1).add("main", {seconds}).add("main/walk", {1}).add("main/walk/walk", {3 * seconds}).add("main/walk/walk/leaf", {1}).run("a"));
    compared(groups);
    const std::vector<SideTree> trees = side_by_side(groups, "time");
    const auto paths = rows_by_path(tree_called(trees, "paths")), callers = rows_by_path(tree_called(trees, "callers"));
    EXPECT_NEAR(paths.at("app > main > (itself)")->changes[0].after, 2e9, 1);
    EXPECT_NEAR(paths.at("app > main > walk > walk > (itself)")->changes[0].after, 6e9, 1);
    EXPECT_FALSE(paths.contains("app > main > walk > walk > leaf > (itself)"));
    EXPECT_NEAR(callers.at("walk")->changes[0].after, 7e9, 1); // both once
    EXPECT_NEAR(callers.at("walk > walk")->changes[0].after, 6e9, 1);
    EXPECT_NEAR(callers.at("walk > main")->changes[0].after, 1e9, 1);
}

TEST(SideBySide, SmallRowsAndDeepOnesAreLeftOutAndCounted) {
    std::vector<RunGroup> groups(2);
    std::string deep = "main";
    for (int i = 0; i < 30; ++i) deep += "/f" + std::to_string(i);
    for (RunGroup& group : groups) group.runs.push_back(KnownRun(2).add(deep, {10}).add("main/tiny", {0.0005}).add("main/large", {5, 6}).run("a"));
    compared(groups);
    for (const SideTree& tree : side_by_side(groups, "time", {1e-4, 1000, 20}))
        if (tree.name == "paths") {
            EXPECT_EQ(tree.left_out, 1u);
            EXPECT_TRUE(tree.is_cut);
            EXPECT_EQ(tree.rows.size(), 21u); // 20 levels, and the one that is large
        }
    for (const SideTree& tree : side_by_side(groups, "time", {0, 10, 200}))
        if (tree.name == "paths") {
            EXPECT_EQ(tree.left_out, 0u);
            EXPECT_TRUE(tree.is_cut);
            EXPECT_LT(tree.rows.size(), 15u);
        }
}

TEST(SideBySide, RunsOfDifferentRanksHaveNoTreeOfRanks) {
    std::vector<RunGroup> groups(2);
    groups[0].runs.push_back(KnownRun(2).add("main", {1}).run("a"));
    groups[1].runs.push_back(KnownRun(3).add("main", {1}).run("b"));
    compared(groups);
    const std::vector<SideTree> trees = side_by_side(groups, "time");
    EXPECT_TRUE(tree_called(trees, "ranks").rows.empty());
    EXPECT_FALSE(tree_called(trees, "paths").rows.empty());
}

} // namespace
} // namespace libprofile::tools
