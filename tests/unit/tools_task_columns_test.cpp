// The columns of tasks in the page have what the threads recorded, once; own times are those of a literal reading of OpenMP's rules.
#include "tests/unit/tools_page_column.hpp"
#include "tests/unit/tools_task_team.hpp"
#include "tools/timeline/timeline_states.hpp"
#include "tools/view/timeline_entry.hpp"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

namespace libprofile::test {

namespace {

using tools::Profile;
using Json = nlohmann::ordered_json;

/// Tasks with dependences, in tasks, undeferred, and with waits.
TaskProgram various_tasks() {
    TaskProgram program;
    for (std::uint64_t i = 0; i < 20; ++i) {
        const std::size_t task = program.create(0, {{0x7f0000000000 + i, TaskDependence::InOut}, {0x1000, TaskDependence::In}});
        program.tasks[task].type = static_cast<std::uint32_t>(i % 3);
        program.compute(task, 100 + i);
        for (int k = 0; k < 2; ++k) program.compute(program.create(task, {}, i % 7 == 0), 30);
        program.wait(task);
        program.compute(task, 7);
    }
    return program;
}

/// The tasks of a page, decoded.
struct DecodedTask {
    std::uint64_t number = 0, creator = 0, created = 0, flags = 0, own = 0; // creator: its number; 0: implicit
    std::size_t location = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> dependences; // kind, address
    bool operator==(const DecodedTask&) const = default;
};
using DecodedRun = std::tuple<std::size_t, std::uint64_t, std::uint64_t, std::uint64_t, bool>; // location, begin, end, number of the task, is over

struct DecodedPage {
    std::vector<DecodedTask> tasks;
    std::vector<DecodedRun> runs;
    Json entry;

    explicit DecodedPage(Profile profile, std::size_t most_bytes = 10'000'000) {
        profile.metrics.resize(metric_count);
        tools::Sections sections;
        entry = tools::timeline_entry(profile, tools::ClockAxis(profile), tools::page_tables(profile), most_bytes, false, sections);
        if (!entry.contains("tasks")) return;
        const auto column = [&](const char* list, const char* name) { return timeline_column(sections, entry[list][name]); };
        const auto numbers = column("tasks", "numbers"), creators = column("tasks", "creators"), created = column("tasks", "created"),
                   flags = column("tasks", "flags"), own = column("tasks", "own"), counts = column("tasks", "dependences"),
                   kinds = column("dependences", "kinds"), addresses = column("dependences", "addresses");
        std::size_t t = 0, d = 0;
        for (std::size_t l = 0; l < entry["rows"]["tasks"].size(); ++l) {
            std::uint64_t number = 0, time = 0, address = 0;
            for (int i = entry["rows"]["tasks"][l]; i > 0; --i, ++t) {
                DecodedTask& task = tasks.emplace_back();
                task.number = number += static_cast<std::uint64_t>(unzigzag(numbers[t]));
                task.created = time += created[t];
                task.creator = creators[t]; // its position first
                task.flags = flags[t];
                task.own = own[t];
                task.location = l;
                for (std::uint64_t end = d + counts[t]; d < end; ++d)
                    task.dependences.emplace_back(kinds[d], address += static_cast<std::uint64_t>(unzigzag(addresses[d])));
            }
        }
        for (DecodedTask& task : tasks) task.creator = task.creator < 2 ? 0 : tasks.at(task.creator - 2).number;
        const auto begins = column("runs", "begins"), lengths = column("runs", "lengths"), of = column("runs", "tasks"), over = column("runs", "flags");
        std::size_t r = 0;
        for (std::size_t l = 0; l < entry["rows"]["runs"].size(); ++l) {
            std::uint64_t begin = 0, task = 0;
            for (int i = entry["rows"]["runs"][l]; i > 0; --i, ++r) {
                begin += begins[r];
                task += static_cast<std::uint64_t>(unzigzag(of[r]));
                runs.emplace_back(l, begin, begin + lengths[r], task == 0 ? 0 : tasks.at(task - 1).number, (over[r] & 1) != 0);
            }
        }
    }
};

void expect_all(const TaskProgram& program, bool suspends) {
    const Profile profile = TaskTeam(program, 3, 5, suspends).run();
    const DecodedPage page(profile);
    const LiteralTaskGraph literal(program);
    std::map<std::uint64_t, DecodedTask> found;
    for (const DecodedTask& task : page.tasks) EXPECT_TRUE(found.emplace(task.number, task).second) << task.number << " is there twice";
    std::size_t tasks = 0;
    std::vector<DecodedRun> runs;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const tools::KeptEvents& events = profile.locations[l].events;
        for (const tools::TracedTask& task : events.tasks) {
            DecodedTask wanted{task.number, task.creator, task.created_ns, task.flags, literal.duration[task.number] + 1, l, {}};
            for (std::uint32_t d = 0; d < task.dependences; ++d) {
                const tools::TracedDependence& one = events.dependences[task.dependences_at + d];
                wanted.dependences.emplace_back(static_cast<std::uint64_t>(one.kind), one.address);
            }
            EXPECT_EQ(found[task.number], wanted) << "task " << task.number;
            ++tasks;
        }
        for (const tools::TracedTaskRun& run : events.runs) runs.emplace_back(l, run.begin_ns, run.end_ns, run.task, run.is_over);
    }
    EXPECT_EQ(page.tasks.size(), tasks);
    std::vector<DecodedRun> sorted = page.runs;
    std::sort(sorted.begin(), sorted.end());
    std::sort(runs.begin(), runs.end());
    EXPECT_EQ(sorted, runs);
    for (std::size_t r = 1; r < page.runs.size(); ++r) // outer ones first
        if (std::get<0>(page.runs[r]) == std::get<0>(page.runs[r - 1])) {
            EXPECT_LE(std::get<1>(page.runs[r - 1]), std::get<1>(page.runs[r]));
        }
}

TEST(TaskColumns, HaveEachTaskAndStretchOnce) { expect_all(various_tasks(), false); }
TEST(TaskColumns, HaveTheStretchesOfSuspendedTasks) { expect_all(various_tasks(), true); }

TEST(TaskColumns, RanksHaveTheSameTypesAndTasksOfTheirOwn) {
    const TaskProgram program = various_tasks();
    Profile both = TaskTeam(program, 2, 1).run();
    const Profile second = TaskTeam(program, 3, 2).run();
    const DecodedPage first(both), other(second);
    both.ranks[1] = second.ranks.at(0);
    both.job.ranks = 2;
    for (tools::Location location : second.locations) {
        location.rank = 1;
        both.locations.push_back(std::move(location));
    }
    const DecodedPage page(both);
    EXPECT_EQ(page.entry["types"].size(), first.entry["types"].size());
    std::vector<DecodedTask> wanted = first.tasks;
    for (DecodedTask task : other.tasks) {
        task.location += 2;
        wanted.push_back(task);
    }
    EXPECT_EQ(page.tasks, wanted);
    EXPECT_EQ(page.runs.size(), first.runs.size() + other.runs.size());
}

TEST(TaskColumns, TypesComeWithMostTimeFirst) {
    TaskProgram program;
    for (std::uint32_t type = 0; type < 3; ++type) {
        const std::size_t task = program.create(0);
        program.tasks[task].type = type;
        program.compute(task, 10 * (type + 1));
    }
    const DecodedPage page(TaskTeam(program, 2, 1).run());
    ASSERT_EQ(page.entry["types"].size(), 3u) << page.entry["types"];
    EXPECT_EQ(page.entry["types"][0]["function"], "block2");
    EXPECT_EQ(page.entry["types"][2]["function"], "block0");
}

TEST(TaskColumns, ARunWithoutTasksHasNone) {
    Profile profile = TaskTeam(TaskProgram{}, 2, 1).run();
    const DecodedPage page(profile);
    EXPECT_TRUE(page.tasks.empty());
    EXPECT_TRUE(page.runs.empty());
    EXPECT_EQ(page.entry["types"], Json::array());
}

TEST(TaskColumns, TasksThatDoNotFitAreLeftOutWithTheirPart) {
    const Profile profile = TaskTeam(various_tasks(), 3, 5).run();
    const DecodedPage page(profile, 100);
    EXPECT_TRUE(page.tasks.empty());
    EXPECT_NE(page.entry["notes"].dump().find("are not in this page"), std::string::npos) << page.entry["notes"];
}

TEST(TimelineStates, WaitsOfOpenMpHaveStatesOfTheirOwnAndParallelRegionsNone) {
    const Profile profile = TaskTeam(TaskProgram{}, 2, 1).run();
    const auto state = [&](std::uint32_t path) { return tools::timeline_state_of(profile, profile.paths[path]); };
    EXPECT_EQ(state(TaskTeam::parallel_path), tools::TimelineState::Region);
    EXPECT_EQ(state(TaskTeam::barrier_path), tools::TimelineState::OmpBarrier);
    EXPECT_EQ(state(TaskTeam::taskwait_path), tools::TimelineState::OmpTaskWait);
    EXPECT_EQ(state(TaskTeam::taskgroup_path), tools::TimelineState::OmpTaskWait);
    tools::TimelineSums sums = {};
    tools::MetricValues values(condensed_size);
    values[static_cast<std::size_t>(CatalogueId::OpenMp)] = 100; // with its parts
    values[static_cast<std::size_t>(CatalogueId::OmpBarrier)] = 60;
    values[static_cast<std::size_t>(CatalogueId::OmpTask)] = 30;
    tools::add_calls(sums, values);
    EXPECT_EQ(sums[static_cast<std::size_t>(tools::TimelineState::OmpBarrier)], 60u);
    EXPECT_EQ(sums[static_cast<std::size_t>(tools::TimelineState::OmpTaskWait)], 30u);
    EXPECT_EQ(sums[static_cast<std::size_t>(tools::TimelineState::OpenMp)], 10u);
    EXPECT_EQ(sums[static_cast<std::size_t>(tools::TimelineState::Task)], 0u);
}

} // namespace

} // namespace libprofile::test
