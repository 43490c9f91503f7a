// Reports and DOT graphs of tasks: which part is shown, that tables agree, hostile names, files as the runtime writes them.
#include "tests/unit/tools_read_one.hpp"
#include "tests/unit/tools_task_file.hpp"
#include "tests/unit/tools_task_team.hpp"
#include "tools/export/formats.hpp"
#include "tools/report/tasks.hpp"
#include "tools/timeline/task_graph.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

namespace libprofile::test {

namespace {

using tools::Profile;
using tools::ReportChoice;
using Json = nlohmann::json;

TaskProgram rounds(int rounds, int tasks, std::uint64_t ns) {
    TaskProgram program;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < tasks; ++i) {
            const std::size_t task = program.create(0);
            program.tasks[task].type = static_cast<std::uint32_t>(round) % TaskTeam::types;
            program.compute(task, ns);
        }
        program.wait(0);
    }
    return program;
}

/// Two ranks, two iterations each; rank 1 has longer tasks, and iteration 40 twice those of iteration 20.
Profile two_ranks() {
    Profile profile;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        Profile longer = TaskTeam(rounds(3, 8, 2000 + 2000 * rank), 2, 1).run();
        const Profile shorter = TaskTeam(rounds(3, 8, 1000 + 1000 * rank), 2, 1).run();
        for (std::size_t l = 0; l < 2; ++l) {
            tools::KeptEvents& events = longer.locations[l].events;
            const tools::KeptEvents& other = shorter.locations[l].events;
            tools::EventPart part = other.parts[0]; // lies after the other one
            part.number = 19;
            const std::uint64_t later = 1'000'000;
            part.begin_ns += later, part.end_ns += later;
            part.intervals_at = static_cast<std::uint32_t>(events.intervals.size());
            part.tasks_at = static_cast<std::uint32_t>(events.tasks.size());
            part.runs_at = static_cast<std::uint32_t>(events.runs.size());
            for (tools::TracedInterval interval : other.intervals) {
                interval.begin_ns += later, interval.end_ns += later;
                events.intervals.push_back(interval);
            }
            for (tools::TracedTask task : other.tasks) {
                task.number += 1000, task.created_ns += later;
                events.tasks.push_back(task);
            }
            for (tools::TracedTaskRun run : other.runs) {
                run.task += 1000, run.begin_ns += later, run.end_ns += later;
                events.runs.push_back(run);
            }
            events.parts.push_back(part);
            longer.locations[l].rank = rank;
        }
        if (rank == 0)
            profile = std::move(longer);
        else
            std::move(longer.locations.begin(), longer.locations.end(), std::back_inserter(profile.locations));
    }
    profile.job.ranks = 2;
    profile.ranks[1] = profile.ranks[0];
    return profile;
}

std::string text_of(const Profile& profile, const ReportChoice& choice) {
    return document_text(tools::task_report(profile, choice, {false, false, "FOLDER", {}}), {100, false, false});
}
Json json_of(const Profile& profile, const ReportChoice& choice) {
    return Json::parse(document_json(tools::task_report(profile, choice, {true, false, "FOLDER", {}})));
}

ReportChoice tasks_of(std::vector<std::uint32_t> ranks = {}, std::optional<tools::IterationRange> iterations = {}) {
    ReportChoice choice;
    choice.tasks = true;
    choice.ranks = std::move(ranks);
    choice.iterations = iterations;
    return choice;
}

/// Keeps what is written.
class OneText final : public tools::Sink {
  public:
    void add(const std::string&, std::string_view bytes) override { text += bytes; }
    std::string text;
};

std::size_t count_of(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    return static_cast<std::size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

} // namespace

TEST(TaskReport, TheTextIsAboutTheIterationWithMostWork) {
    const Profile profile = two_ranks();
    EXPECT_NE(text_of(profile, tasks_of()).find("24 tasks in iteration 40 of rank 1: work 96."), std::string::npos);
    EXPECT_NE(text_of(profile, tasks_of({0})).find("24 tasks in iteration 40 of rank 0: work 48."), std::string::npos);
    const std::string chosen = text_of(profile, tasks_of({1}, tools::IterationRange{19, 19}));
    EXPECT_NE(chosen.find("24 tasks in iteration 20 of rank 1: work 48."), std::string::npos);
    EXPECT_NE(chosen.find("export FOLDER --format dot --rank 1 --iterations 20"), std::string::npos);
}

TEST(TaskReport, TablesHaveEveryPartAndAgree) {
    const Json report = json_of(two_ranks(), tasks_of());
    ASSERT_EQ(report["ranks"].size(), 2u);
    ASSERT_EQ(report["stretches"].size(), 4u);
    std::map<std::uint64_t, std::uint64_t> work, span, tasks, depths;
    for (const Json& part : report["stretches"]) {
        work[part["rank"]] += part["work"].get<std::uint64_t>();
        span[part["rank"]] += part["span"].get<std::uint64_t>();
        tasks[part["rank"]] += part["tasks"].get<std::uint64_t>();
        EXPECT_EQ(part["depths"], 3);
        EXPECT_TRUE(part["first"] == 20 || part["first"] == 40);
    }
    for (const Json& rank : report["ranks"]) {
        EXPECT_EQ(rank["work"], work[rank["rank"]]);
        EXPECT_EQ(rank["span"], span[rank["rank"]]);
        EXPECT_EQ(rank["tasks"], tasks[rank["rank"]]);
        EXPECT_EQ(rank["depths"], 6);
        EXPECT_EQ(rank["incomplete"], 0);
    }
    for (const Json& row : report["depths"]) EXPECT_EQ(row["tasks"], 8);
    EXPECT_EQ(report["depths"].size(), 4u * 3);
    EXPECT_EQ(report["types"].size(), 4u * 3);
    EXPECT_EQ(report["types"][0]["function"], "block0");
    EXPECT_EQ(report["types"][0]["source"], "seidel.c:40");
    for (const Json& note : report["notes"]) EXPECT_EQ(note.get<std::string>().find(" task"), std::string::npos) << note;
}

TEST(TaskReport, WhatIsMissingIsSaid) {
    Profile profile = TaskTeam(rounds(3, 8, 1000), 1, 1).run();
    profile.locations[0].events.parts[0].runs -= 2;
    const std::string text = text_of(profile, tasks_of());
    EXPECT_NE(text.find("rank 0: 2 tasks were created and did not run in what was kept"), std::string::npos) << text;
    EXPECT_NE(text.find("22 tasks in iteration 40"), std::string::npos);
}

TEST(TaskReport, WithoutTasksItSaysHowToRecordThem) {
    Profile profile = TaskTeam(rounds(1, 1, 1000), 1, 1).run();
    profile.locations[0].events = {};
    try {
        text_of(profile, tasks_of());
        FAIL();
    } catch (const tools::SelectionError& error) {
        EXPECT_NE(std::string(error.what()).find("LIBPROFILE_TRACE=events"), std::string::npos);
    }
}

TEST(TaskReport, AFileHasTheSameGraph) {
    TaskProgram program = rounds(2, 5, 700);
    program.begin_group(0);
    const std::size_t parent = program.create(0, {{8, TaskDependence::InOut}, {16, TaskDependence::MutexInOutSet}}, true);
    program.compute(parent, 10);
    program.compute(program.create(parent), 5000);
    program.end_group(0);
    const Profile made = TaskTeam(program, 3, 1, true).run();
    const Profile read = read_one(task_file(made));
    EXPECT_TRUE(read.notes.empty()) << read.notes.front();
    const auto graph_of = [](const Profile& profile) { return tools::task_graph(profile, tools::parts_of(tools::task_stretches(profile, 0))); };
    const tools::TaskGraph a = graph_of(made), b = graph_of(read);
    ASSERT_EQ(a.tasks.size(), b.tasks.size());
    for (std::size_t t = 0; t < a.tasks.size(); ++t) {
        EXPECT_EQ(a.tasks[t].number, b.tasks[t].number);
        EXPECT_EQ(a.tasks[t].depth, b.tasks[t].depth);
        EXPECT_EQ(a.tasks[t].flags, b.tasks[t].flags);
        EXPECT_EQ(a.tasks[t].duration_ns, b.tasks[t].duration_ns);
    }
    EXPECT_EQ(a.work_ns, b.work_ns);
    EXPECT_EQ(a.span_ns, b.span_ns);
    EXPECT_EQ(a.dependences, b.dependences);
    EXPECT_EQ(b.complete_tasks, 12u);
}

TEST(TaskReport, ADotGraphHasTheChosenTasks) {
    const Profile profile = two_ranks();
    tools::ExportRequest request;
    OneText all, some;
    EXPECT_TRUE(tools::write_dot(profile, request, all).empty());
    EXPECT_EQ(count_of(all.text, "\n    r[01]t\\d+ \\["), 2u * 2 * 24);
    EXPECT_EQ(count_of(all.text, "\n    r[01]j\\d+ \\["), 2u * 2 * 2); // taskwaits with tasks on both sides
    request.choice.ranks = {1};
    request.choice.iterations = tools::IterationRange{39, 39};
    request.depths = {1, 2};
    request.task_type = "block1";
    tools::write_dot(profile, request, some);
    EXPECT_EQ(count_of(some.text, "\n    r\\dt\\d+ \\["), 8u);
    EXPECT_EQ(count_of(some.text, "\n    r1t\\d+ \\["), 8u);
}

TEST(TaskReport, HostileNamesStayInsideTheirQuotes) {
    Profile profile = TaskTeam(rounds(1, 3, 1000), 1, 1).run();
    for (tools::Site& site : profile.sites)
        site.name = {
            "a\"b\\\n\x1b[2J\xff];}",
            "c\"d\\.c",
            7,
        };
    OneText dot;
    tools::write_dot(profile, {}, dot);
    EXPECT_EQ(count_of(dot.text, "[\x01-\x09\x0b-\x1f]"), 0u);
    const std::string unquoted = std::regex_replace(dot.text, std::regex("\"(\\\\.|[^\"\\\\\n])*\""), "");
    EXPECT_EQ(unquoted.find('"'), std::string::npos) << unquoted;
    EXPECT_EQ(count_of(unquoted, "\\{"), count_of(unquoted, "\\}"));
    EXPECT_EQ(text_of(profile, tasks_of()).find('\x1b'), std::string::npos);
}

} // namespace libprofile::test
