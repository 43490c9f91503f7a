// The columns of NUMA nodes in the page have the node of each task and of each of its dependences, in the order of the other columns of tasks.
#include "tests/unit/tools_page_column.hpp"
#include "tests/unit/tools_task_machine.hpp"
#include "tools/view/timeline_entry.hpp"

#include <gtest/gtest.h>
#include <map>

namespace libprofile::test {

namespace {

TaskProgram tasks_on_pages(std::uint64_t pages) {
    TaskProgram program;
    for (std::uint64_t i = 0; i < 60; ++i) {
        std::vector<tools::TracedDependence> needs;
        for (std::uint64_t d = 0; d < i % 4; ++d) needs.push_back({(first_numa_page + (5 * i + 3 * d) % pages) * numa_page + i, TaskDependence::InOut});
        program.compute(program.create(0, needs), 40 + i);
    }
    return program;
}

nlohmann::ordered_json page_entry_of(tools::Profile profile, tools::Sections& sections) {
    profile.metrics.resize(metric_count);
    return tools::timeline_entry(profile, tools::ClockAxis(profile), tools::page_tables(profile), 10'000'000, false, sections);
}

} // namespace

TEST(TaskPlaceColumns, HaveTheNodesOfTheMachine) {
    constexpr std::uint32_t threads = 5, nodes = 4;
    constexpr std::uint64_t pages = 30;
    const tools::Profile profile = on_machine(tasks_on_pages(pages), threads, nodes, pages, 3);
    std::map<std::uint64_t, std::uint32_t> thread_of;
    for (std::uint32_t t = 0; t < threads; ++t)
        for (const tools::TracedTaskRun& run : profile.locations[t].events.runs) thread_of[run.task] = t;
    std::vector<std::uint64_t> of_tasks, of_data; // + 1; 0: not known
    for (const tools::Location& location : profile.locations)
        for (const tools::TracedTask& task : location.events.tasks) {
            const std::uint32_t thread = thread_of.at(task.number);
            of_tasks.push_back(thread + 1 == threads ? 0 : thread % nodes + 1);
            for (std::uint32_t d = 0; d < task.dependences; ++d) {
                const std::uint64_t page = location.events.dependences[task.dependences_at + d].address / numa_page - first_numa_page;
                of_data.push_back(page % 7 == 0 ? 0 : page % nodes + 1);
            }
        }
    tools::Sections sections;
    const nlohmann::ordered_json entry = page_entry_of(profile, sections);
    EXPECT_EQ(timeline_column(sections, entry["task_nodes"]["nodes"]), of_tasks);
    EXPECT_EQ(timeline_column(sections, entry["data_nodes"]["nodes"]), of_data);
}

TEST(TaskPlaceColumns, ARunWithoutNodesOfPagesHasNone) {
    for (const bool has_pages : {false, true}) {
        tools::Profile profile = on_machine(tasks_on_pages(30), 3, 2, 30, 1);
        if (has_pages)
            profile.ranks[0].pages->ranges.clear(); // the kernel did not tell
        else
            profile.ranks[0].pages.reset();
        tools::Sections sections;
        const nlohmann::ordered_json entry = page_entry_of(profile, sections);
        EXPECT_TRUE(entry.contains("tasks"));
        EXPECT_FALSE(entry.contains("task_nodes"));
        EXPECT_FALSE(entry.contains("data_nodes"));
    }
}

TEST(TaskPlaceColumns, ARankWithoutPagesLeavesTheNodesOfOthersInTheirPlaces) {
    const TaskProgram program = tasks_on_pages(30);
    tools::Profile both = on_machine(program, 3, 2, 30, 1);
    const tools::Profile second = TaskTeam(program, 2, 2).run();
    tools::Sections alone;
    const nlohmann::ordered_json first = page_entry_of(both, alone);
    const std::vector<std::uint64_t> wanted = timeline_column(alone, first["data_nodes"]["nodes"]);
    both.ranks[1] = second.ranks.at(0);
    both.job.ranks = 2;
    for (tools::Location location : second.locations) {
        location.rank = 1;
        both.locations.push_back(std::move(location));
    }
    tools::Sections sections;
    const nlohmann::ordered_json entry = page_entry_of(both, sections);
    const std::vector<std::uint64_t> found = timeline_column(sections, entry["data_nodes"]["nodes"]);
    ASSERT_EQ(found.size(), 2 * wanted.size());
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), found.begin()));
    EXPECT_EQ(std::count(found.begin() + static_cast<std::ptrdiff_t>(wanted.size()), found.end(), 0u), static_cast<std::ptrdiff_t>(wanted.size()));
    EXPECT_EQ(timeline_column(sections, entry["task_nodes"]["nodes"]).size(), 120u);
}

} // namespace libprofile::test
