// The graph of OpenMP tasks: depth, available parallelism, work and span of programs whose graph is known, in closed form or by a literal implementation.
#include "tests/unit/tools_task_team.hpp"
#include "tools/timeline/task_graph.hpp"
#include "tools/timeline/task_types.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <random>

namespace libprofile::test {

namespace {

using tools::Profile;
using tools::TaskGraph;
using tools::TracedDependence;
using Kind = TaskDependence;

TaskGraph graph_of(const Profile& profile) { return tools::task_graph(profile, tools::parts_of(tools::task_stretches(profile, 0))); }
TaskGraph graph_of(const TaskProgram& program, std::uint32_t threads = 3, std::uint32_t seed = 1, bool suspends = false) {
    return graph_of(TaskTeam(program, threads, seed, suspends).run());
}

/// Tasks by depth.
std::vector<std::uint64_t> parallelism(const TaskGraph& graph) {
    std::vector<std::uint64_t> tasks;
    for (const TaskGraph::Depth& depth : graph.depths) tasks.push_back(depth.tasks);
    return tasks;
}

/// Everything that the literal implementation tells.
void expect_same(const TaskProgram& program, const TaskGraph& graph, std::uint32_t threads) {
    const LiteralTaskGraph literal(program);
    const std::size_t tasks = program.tasks.size() - 1;
    ASSERT_EQ(graph.tasks.size(), tasks);
    EXPECT_EQ(graph.complete_tasks, tasks);
    std::vector<TaskGraph::Depth> depths;
    for (const TaskGraph::Task& task : graph.tasks) {
        ASSERT_EQ(task.depth, literal.depth[task.number]) << "task " << task.number;
        ASSERT_EQ(task.duration_ns, literal.duration[task.number]) << "task " << task.number;
        EXPECT_GE(task.ready_ns, task.created_ns);
        EXPECT_LE(task.ready_ns, task.begin_ns);
        if (depths.size() <= task.depth) depths.resize(task.depth + 1);
        ++depths[task.depth].tasks;
        depths[task.depth].ns += task.duration_ns;
    }
    ASSERT_EQ(graph.depths.size(), depths.size());
    for (std::size_t d = 0; d < depths.size(); ++d) {
        EXPECT_EQ(graph.depths[d].tasks, depths[d].tasks);
        EXPECT_EQ(graph.depths[d].ns, depths[d].ns);
    }
    EXPECT_EQ(graph.work_ns, literal.work + (threads - 1) * task_event_ns); // each worker takes part before it waits
    EXPECT_EQ(graph.implicit_ns, literal.duration[0] + (threads - 1) * task_event_ns);
    EXPECT_EQ(graph.span_ns, literal.span);
    std::uint64_t path = 0;
    for (const TaskGraph::Step& step : graph.critical_path) path += step.ns;
    EXPECT_EQ(path, graph.span_ns);
    EXPECT_EQ(graph.outside_regions + graph.of_unknown_creators + graph.created_elsewhere + graph.incomplete(), 0u);
}

/// rows x columns blocks that are swept `sweeps` times, each waiting for its upper and left neighbour.
TaskProgram seidel(std::uint64_t rows, std::uint64_t columns, std::uint64_t ns) {
    TaskProgram program;
    const auto block = [&](std::uint64_t i, std::uint64_t j) { return 0x1000 + 8 * (i * (columns + 1) + j); };
    for (std::uint64_t i = 1; i <= rows; ++i)
        for (std::uint64_t j = 1; j <= columns; ++j)
            program.compute(program.create(0, {{block(i - 1, j), Kind::In}, {block(i, j - 1), Kind::In}, {block(i, j), Kind::InOut}}), ns);
    return program;
}

/// Tasks that create two and wait for them.
std::uint64_t add_fibonacci(TaskProgram& program, std::size_t task, unsigned n) {
    program.compute(task, 10);
    if (n < 2) return 1;
    std::uint64_t tasks = 1;
    for (const unsigned less : {1u, 2u}) tasks += add_fibonacci(program, program.create(task), n - less);
    program.wait(task);
    program.compute(task, 5);
    return tasks;
}

struct RandomProgram {
    std::mt19937 random;
    TaskProgram program;
    std::size_t most;
    std::uint64_t addresses;

    std::uint64_t below(std::uint64_t n) { return random() % n; }
    void fill(std::size_t task, unsigned depth) {
        program.compute(task, 1 + below(100));
        const std::uint64_t steps = task == 0 ? most : below(9);
        unsigned groups = 0;
        for (std::uint64_t s = 0; s < steps && program.tasks.size() <= most; ++s) {
            const std::uint64_t what = below(20);
            if (what == 0) program.wait(task);
            if (what == 1) ++groups, program.begin_group(task);
            if (what == 2 && groups != 0) --groups, program.end_group(task);
            if (what == 3) program.compute(task, 1 + below(100));
            if (what < 4) continue;
            std::vector<TracedDependence> dependences;
            for (std::uint64_t d = below(4); d > 0; --d) dependences.push_back({0x100 + below(addresses), static_cast<Kind>(1 + below(5))});
            const std::size_t child = program.create(task, std::move(dependences), below(15) == 0);
            program.tasks[child].type = static_cast<std::uint32_t>(below(TaskTeam::types));
            if (depth < 6 && below(3) == 0)
                fill(child, depth + 1);
            else
                program.compute(child, 1 + below(100));
        }
        while (groups-- != 0) program.end_group(task);
    }
};
TaskProgram random_program(std::size_t most, std::uint32_t seed) {
    RandomProgram random{std::mt19937(seed), {}, most, 4 + most / 20};
    random.fill(0, 0);
    return std::move(random.program);
}

} // namespace

TEST(TaskGraph, AChainHasNoParallelism) {
    TaskProgram program;
    for (int i = 0; i < 20; ++i) program.compute(program.create(0, {{8, Kind::InOut}}), 1000);
    const TaskGraph graph = graph_of(program);
    EXPECT_EQ(parallelism(graph), std::vector<std::uint64_t>(20, 1));
    EXPECT_EQ(graph.span_ns, 20u * 1000); // the first is created at once
    expect_same(program, graph, 3);
}

TEST(TaskGraph, IndependentTasksCouldAllRunAtOnce) {
    TaskProgram program;
    for (int i = 0; i < 30; ++i) program.compute(program.create(0), 1000);
    const TaskGraph graph = graph_of(program);
    EXPECT_EQ(parallelism(graph), std::vector<std::uint64_t>{30});
    EXPECT_EQ(graph.span_ns, 29 * task_event_ns + 1000); // the last one is created after 29 others
    expect_same(program, graph, 3);
}

TEST(TaskGraph, ForkAndJoinHasTheWorkAndSpanOfItsRecursion) {
    TaskProgram program;
    const std::uint64_t tasks = add_fibonacci(program, program.create(0), 12);
    const TaskGraph graph = graph_of(program, 4);
    EXPECT_EQ(graph.complete_tasks, tasks);
    EXPECT_EQ(graph.depths.size(), 12u); // a level for each n from 12 to 1
    EXPECT_EQ(graph.depths[3].tasks, 8u);
    expect_same(program, graph, 4);
}

TEST(TaskGraph, ABlockSeidelIsAWaveFront) {
    const TaskGraph graph = graph_of(seidel(9, 14, 500), 2);
    std::vector<std::uint64_t> diagonals;
    for (std::uint64_t d = 0; d < 9 + 14 - 1; ++d) diagonals.push_back(std::min({d + 1, std::uint64_t{9}, 9 + 14 - 1 - d}));
    EXPECT_EQ(parallelism(graph), diagonals);
    for (const TaskGraph::Task& task : graph.tasks) EXPECT_EQ(task.depth, (task.number - 1) / 14 + (task.number - 1) % 14);
    expect_same(seidel(9, 14, 500), graph, 2);
}

TEST(TaskGraph, InitialisationTasksAreReadyAtOnce) {
    TaskProgram program;
    for (std::uint64_t i = 0; i < 40; ++i) program.compute(program.create(0, {{i, Kind::Out}}), 100);
    for (std::uint64_t i = 1; i < 40; ++i) program.compute(program.create(0, {{i - 1, Kind::In}, {i, Kind::InOut}}), 100);
    const TaskGraph graph = graph_of(program);
    EXPECT_EQ(graph.depths.size(), 40u);
    EXPECT_EQ(graph.depths[0].tasks, 40u);
    EXPECT_EQ(graph.depths[1].tasks, 1u); // the sudden drop
    expect_same(program, graph, 3);
}

TEST(TaskGraph, SeidelHasTheFourPhasesOfThePaper) {
    // Initialisation of each block, then sweeps, in which a block waits for its neighbours: up and left of this sweep, down and right of the one before.
    const std::uint64_t n = 12, sweeps = 5;
    const auto block = [&](std::uint64_t i, std::uint64_t j) { return i * n + j; };
    TaskProgram program;
    for (std::uint64_t i = 0; i < n; ++i)
        for (std::uint64_t j = 0; j < n; ++j) program.compute(program.create(0, {{block(i, j), Kind::Out}}), 100);
    std::vector<std::uint64_t> expected = {n * n};
    for (std::uint64_t s = 0; s < sweeps; ++s)
        for (std::uint64_t i = 0; i < n; ++i)
            for (std::uint64_t j = 0; j < n; ++j) {
                std::vector<TracedDependence> dependences = {{block(i, j), Kind::InOut}};
                if (i > 0) dependences.push_back({block(i - 1, j), Kind::In});
                if (j > 0) dependences.push_back({block(i, j - 1), Kind::In});
                if (i + 1 < n) dependences.push_back({block(i + 1, j), Kind::In});
                if (j + 1 < n) dependences.push_back({block(i, j + 1), Kind::In});
                program.compute(program.create(0, dependences), 100);
                const std::uint64_t depth = 1 + i + j + 2 * s;
                if (expected.size() <= depth) expected.resize(depth + 1);
                ++expected[depth];
            }
    const TaskGraph graph = graph_of(program);
    const std::vector<std::uint64_t> found = parallelism(graph);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found[0], n * n); // (1) start-up
    EXPECT_EQ(found[1], 1u);    // (2) the sudden drop
    const auto most = static_cast<std::size_t>(std::max_element(found.begin() + 1, found.end()) - found.begin());
    for (std::size_t d = 2; d <= most; ++d) EXPECT_GE(found[d] + 1, found[d - 1]); // (3) the wave front grows; sweeps come every second depth
    EXPECT_EQ(found.back(), 1u);                                                   // (4) and declines
    expect_same(program, graph, 3);
}

TEST(TaskGraph, KMeansHasALimitAtLargeBlocksAndOneAtSmallOnes) {
    // Each iteration: a task per block, a tree of reductions, the next iteration after its root. Creating a task takes 200 ns; all points 1 ms.
    const auto parallelism_with = [](std::uint64_t blocks) {
        TaskProgram program;
        const std::uint64_t result = 1'000'000;
        for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
            for (std::uint64_t b = 0; b < blocks; ++b) {
                program.compute(0, 200);
                program.compute(program.create(0, {{result, Kind::In}, {b, Kind::Out}}), 1'000'000 / blocks);
            }
            for (std::uint64_t width = 1; width < blocks; width *= 2)
                for (std::uint64_t b = 0; b + width < blocks; b += 2 * width) {
                    program.compute(0, 200);
                    program.compute(program.create(0, {{b, Kind::InOut}, {b + width, Kind::In}}), 300);
                }
            program.compute(0, 200);
            program.compute(program.create(0, {{0, Kind::In}, {result, Kind::InOut}}), 300);
        }
        const TaskGraph graph = graph_of(program);
        expect_same(program, graph, 3);
        return graph.parallelism();
    };
    EXPECT_LT(parallelism_with(1), 1.01);
    EXPECT_LT(parallelism_with(4), 4.0); // not more than blocks
    const double best = parallelism_with(64);
    EXPECT_GT(best, 10.0);
    EXPECT_LT(parallelism_with(2048), best / 3); // creating them takes as long as they do
}

TEST(TaskGraph, SetsHaveNoOrderAmongThemselves) {
    for (const Kind set : {Kind::MutexInOutSet, Kind::InOutSet, Kind::In}) {
        TaskProgram program;
        for (const Kind kind : {Kind::Out, set, set, set, Kind::InOut, set, set, Kind::Out}) program.compute(program.create(0, {{8, kind}}), 100);
        EXPECT_EQ(parallelism(graph_of(program)), (std::vector<std::uint64_t>{1, 3, 1, 2, 1}));
    }
    TaskProgram program;
    for (const Kind kind : {Kind::In, Kind::MutexInOutSet, Kind::MutexInOutSet, Kind::InOutSet, Kind::In, Kind::In})
        program.compute(program.create(0, {{8, kind}}), 100);
    const TaskGraph graph = graph_of(program);
    EXPECT_EQ(parallelism(graph), (std::vector<std::uint64_t>{1, 2, 1, 2}));
    expect_same(program, graph, 3);
}

TEST(TaskGraph, ATaskThatReadsAndWritesAnAddressWaitsForReaders) {
    TaskProgram program;
    program.compute(program.create(0, {{8, Kind::In}}), 100);
    program.compute(program.create(0, {{8, Kind::In}, {8, Kind::Out}}), 100);
    program.compute(program.create(0, {{8, Kind::In}, {8, Kind::In}}), 100);
    EXPECT_EQ(parallelism(graph_of(program)), (std::vector<std::uint64_t>{1, 1, 1}));
}

TEST(TaskGraph, DependencesHoldAmongSiblingsOnly) {
    TaskProgram program;
    const std::size_t a = program.create(0), b = program.create(0);
    for (const std::size_t parent : {a, b}) {
        program.compute(parent, 10);
        program.compute(program.create(parent, {{8, Kind::InOut}}), 100);
    }
    const TaskGraph graph = graph_of(program);
    EXPECT_EQ(parallelism(graph), (std::vector<std::uint64_t>{2, 2}));
    expect_same(program, graph, 3);
}

TEST(TaskGraph, AfterATaskwaitTasksAreDeeperThanItsChildren) {
    TaskProgram program;
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 5; ++i) program.compute(program.create(0), 100);
        program.wait(0);
    }
    const TaskGraph graph = graph_of(program);
    EXPECT_EQ(parallelism(graph), (std::vector<std::uint64_t>{5, 5, 5, 5}));
    expect_same(program, graph, 3);
}

TEST(TaskGraph, ATaskwaitDoesNotWaitForGrandchildrenButATaskgroupDoes) {
    for (const bool is_group : {false, true}) {
        TaskProgram program;
        if (is_group) program.begin_group(0);
        const std::size_t child = program.create(0);
        program.compute(child, 10);
        program.compute(program.create(child), 100'000);
        is_group ? program.end_group(0) : program.wait(0);
        program.compute(0, 50'000);
        const TaskGraph graph = graph_of(program);
        EXPECT_EQ(graph.span_ns > 150'000, is_group);
        expect_same(program, graph, 3);
    }
}

TEST(TaskGraph, ATaskloopIsAGroupOfTasks) {
    TaskProgram program;
    for (int loop = 0; loop < 3; ++loop) {
        program.begin_group(0);
        for (int i = 0; i < 8; ++i) program.compute(program.create(0), 100);
        program.end_group(0);
    }
    EXPECT_EQ(parallelism(graph_of(program)), (std::vector<std::uint64_t>{8, 8, 8}));
}

TEST(TaskGraph, ACreatorWaitsForAnUndeferredTask) {
    TaskProgram program;
    for (int i = 0; i < 4; ++i) program.compute(program.create(0, {}, true), 1000);
    const TaskGraph graph = graph_of(program, 1);
    EXPECT_EQ(graph.span_ns, 4 * (1000 + task_event_ns));
    expect_same(program, graph, 1);
}

TEST(TaskGraph, SuspendedTasksHaveTheTimeThatTheyComputed) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        TaskProgram program;
        add_fibonacci(program, program.create(0), 9);
        const TaskGraph graph = graph_of(program, 4, seed, true);
        expect_same(program, graph, 4);
        EXPECT_GT(graph.runs.size(), graph.tasks.size());
    }
}

TEST(TaskGraph, RandomProgramsHaveTheGraphOfALiteralImplementation) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const TaskProgram program = random_program(10 + seed, seed);
        const std::uint32_t threads = 1 + seed % 4;
        expect_same(program, graph_of(program, threads, seed, seed % 3 == 0), threads);
        if (HasFatalFailure()) return;
    }
}

TEST(TaskGraph, LargeRandomProgramsHaveIt) {
    for (const std::size_t tasks : {1'000u, 10'000u, 100'000u}) {
        SCOPED_TRACE(tasks);
        const TaskProgram program = random_program(tasks, static_cast<std::uint32_t>(tasks));
        EXPECT_GE(program.tasks.size(), tasks);
        expect_same(program, graph_of(program, 3, 7), 3);
    }
}

TEST(TaskGraph, StolenTasksWereBegunByAnotherThread) {
    TaskProgram program;
    for (int i = 0; i < 100; ++i) program.compute(program.create(0), 1000);
    const Profile profile = TaskTeam(program, 4, 3).run();
    const TaskGraph graph = graph_of(profile);
    std::uint64_t elsewhere = 0;
    for (std::uint32_t t = 1; t < 4; ++t) elsewhere += profile.locations[t].events.runs.size();
    EXPECT_EQ(graph.stolen_tasks, elsewhere);
    EXPECT_GT(elsewhere, 0u);
    EXPECT_EQ(graph_of(program, 1).stolen_tasks, 0u);
}

TEST(TaskGraph, TypesHaveTheirTasks) {
    TaskProgram program;
    for (std::uint64_t i = 0; i < 10; ++i) {
        const std::size_t task = program.create(0);
        program.tasks[task].type = i < 7 ? 2 : 1;
        program.compute(task, 100 * (i + 1));
    }
    const Profile profile = TaskTeam(program, 2, 1).run();
    const TaskGraph graph = graph_of(profile);
    const tools::TaskTypes types = tools::task_types(profile, graph);
    ASSERT_EQ(types.types.size(), 2u);
    EXPECT_EQ(types.types[0].function, "block2");
    EXPECT_EQ(types.types[0].source, "seidel.c:42");
    EXPECT_EQ(types.types[0].tasks, 7u);
    EXPECT_EQ(types.types[0].sum_ns, 2800u);
    EXPECT_EQ(types.types[0].least_ns, 100u);
    EXPECT_EQ(types.types[0].median_ns, 400u);
    EXPECT_EQ(types.types[0].most_ns, 700u);
    EXPECT_EQ(types.types[1].sum_ns, 2700u);
    EXPECT_EQ(types.of_task[0], 0u);
}

TEST(TaskGraph, WhereTheFunctionOfATaskIsNotKnownItIsThatOfItsCreation) {
    TaskProgram program;
    program.compute(program.create(0), 100);
    Profile profile = TaskTeam(program, 1, 1).run();
    profile.locations[0].events.runs[0].path = TaskTeam::parallel_path; // as LLVM's runtime has it
    const TaskGraph graph = graph_of(profile);
    EXPECT_EQ(graph.runs[0].path, graph.tasks[0].path);
    EXPECT_EQ(tools::task_types(profile, graph).types[0].function, "block0");
    EXPECT_EQ(graph.critical_path.back().path, graph.tasks[0].path);
}

TEST(TaskGraph, WhatIsNotAllThereIsCountedAndNotUsed) {
    TaskProgram program;
    for (int i = 0; i < 10; ++i) program.compute(program.create(0, {{8, Kind::InOut}}), 1000);
    const Profile whole = TaskTeam(program, 1, 1).run();
    Profile profile = whole; // the fourth task did not run, the fifth did not end, the sixth began before
    auto& runs = profile.locations[0].events.runs;
    runs[4].is_over = false;
    runs[5].is_resumed = true;
    runs.erase(runs.begin() + 3);
    --profile.locations[0].events.parts[0].runs;
    TaskGraph graph = graph_of(profile);
    EXPECT_EQ(graph.complete_tasks, 7u);
    EXPECT_EQ(graph.not_run, 1u);
    EXPECT_EQ(graph.partly_run, 2u);
    EXPECT_EQ(graph.work_ns, graph_of(whole).work_ns - 3 * 1000);
    EXPECT_EQ(graph.tasks[9].depth, 9u); // the order is known

    profile = whole; // creations 1 and 2 are not there
    profile.locations[0].events.parts[0].tasks_at = 2;
    profile.locations[0].events.parts[0].tasks = 8;
    graph = graph_of(profile);
    EXPECT_EQ(graph.created_elsewhere, 2u);
    EXPECT_EQ(graph.complete_tasks, 8u);
    EXPECT_EQ(graph.span_ns, 8u * 1000 + 2 * task_event_ns);
}

TEST(TaskGraph, RegionsComeOneAfterTheOther) {
    TaskProgram program;
    for (int i = 0; i < 6; ++i) program.compute(program.create(0), 1000);
    Profile profile = TaskTeam(program, 2, 1).run();
    const TaskGraph one = graph_of(profile);
    // The same once more, later, in the next iteration.
    for (tools::Location& location : profile.locations) {
        tools::KeptEvents& events = location.events;
        tools::EventPart part = events.parts[0];
        const std::uint64_t later = 1'000'000;
        ++part.number;
        part.begin_ns += later, part.end_ns += later;
        part.intervals_at = part.intervals, part.tasks_at = part.tasks, part.runs_at = part.runs;
        for (std::uint32_t i = 0; i < part.intervals; ++i)
            events.intervals.push_back({events.intervals[i].begin_ns + later, events.intervals[i].end_ns + later, events.intervals[i].path});
        for (std::uint32_t i = 0; i < part.tasks; ++i) {
            events.tasks.push_back(events.tasks[i]);
            events.tasks.back().number += 100;
            events.tasks.back().created_ns += later;
        }
        for (std::uint32_t i = 0; i < part.runs; ++i) {
            events.runs.push_back(events.runs[i]);
            events.runs.back().task += 100;
            events.runs.back().begin_ns += later, events.runs.back().end_ns += later;
        }
        events.parts.push_back(part);
    }
    const std::vector<tools::TaskStretch> stretches = tools::task_stretches(profile, 0);
    ASSERT_EQ(stretches.size(), 2u);
    for (const tools::TaskStretch& stretch : stretches) EXPECT_EQ(tools::task_graph(profile, stretch.parts).span_ns, one.span_ns);
    const TaskGraph both = graph_of(profile);
    EXPECT_EQ(both.regions, 2u);
    EXPECT_EQ(both.span_ns, 2 * one.span_ns);
    EXPECT_EQ(both.work_ns, 2 * one.work_ns);
    EXPECT_EQ(parallelism(both), (std::vector<std::uint64_t>{6, 6}));
}

TEST(TaskGraph, HostileRecordsAreNoTrouble) {
    std::mt19937_64 random(5);
    const auto any = [&](std::uint64_t most) { return random() % 4 == 0 ? random() : random() % most; };
    for (int round = 0; round < 300; ++round) {
        Profile profile = TaskTeam(random_program(60, static_cast<std::uint32_t>(round)), 3, 1, round % 2 == 0).run();
        for (tools::Location& location : profile.locations) {
            tools::KeptEvents& events = location.events;
            for (int change = 0; change < 20; ++change) {
                if (!events.tasks.empty()) {
                    tools::TracedTask& task = events.tasks[random() % events.tasks.size()];
                    switch (random() % 5) {
                    case 0: task.number = any(60); break;
                    case 1: task.creator = any(60); break;
                    case 2: task.created_ns = any(5000); break;
                    case 3: task.dependences = static_cast<std::uint32_t>(any(10)); break;
                    default: task.path = static_cast<std::uint32_t>(any(12));
                    }
                }
                if (!events.runs.empty()) {
                    tools::TracedTaskRun& run = events.runs[random() % events.runs.size()];
                    switch (random() % 4) {
                    case 0: run.task = any(60); break;
                    case 1: run.begin_ns = any(5000); break;
                    case 2: run.end_ns = any(5000); break;
                    default: run.path = static_cast<std::uint32_t>(any(12));
                    }
                }
                if (!events.groups.empty()) events.groups[random() % events.groups.size()] = {any(5000), any(5000), any(60)};
                tools::TracedInterval& interval = events.intervals[random() % events.intervals.size()];
                if (random() % 3 == 0) interval = {any(5000), any(5000), static_cast<std::uint32_t>(any(12))};
            }
            if (round % 5 == 0) events.parts[0].runs = static_cast<std::uint32_t>(random());
        }
        const TaskGraph graph = graph_of(profile);
        const tools::TaskTypes types = tools::task_types(profile, graph);
        EXPECT_EQ(types.of_task.size(), graph.tasks.size());
        tools::critical_places(graph);
        EXPECT_LE(graph.complete_tasks, graph.tasks.size());
        for (const TaskGraph::Step& step : graph.critical_path) EXPECT_TRUE(step.task == TaskGraph::none || step.task < graph.tasks.size());
    }
}

TEST(TaskGraph, TasksThatCreateEachOtherAreCounted) {
    TaskProgram program;
    for (int i = 0; i < 4; ++i) program.compute(program.create(0), 1000);
    Profile profile = TaskTeam(program, 1, 1).run();
    profile.locations[0].events.tasks[1].creator = 3;
    profile.locations[0].events.tasks[2].creator = 2;
    const TaskGraph graph = graph_of(profile);
    EXPECT_EQ(graph.contradictory, 2u);
    EXPECT_EQ(graph.complete_tasks, 2u);
}

TEST(TaskGraph, AHundredThousandTasksTakeLessThanASecond) {
    // 316 x 317 blocks, which create each other's successors' dependences in a wave front; recorded as if one thread had run them in their order.
    const std::uint64_t rows = 316, columns = 317;
    const TaskProgram program = seidel(rows, columns, 1000);
    Profile profile = TaskTeam(TaskProgram{{TaskProgram::Task{{{TaskProgram::Step::Compute, 5, 0}}, {}, false, 0, 0, {}}}}, 1, 1).run();
    tools::KeptEvents& events = profile.locations[0].events;
    std::uint64_t now = TaskTeam::begin_ns + 1;
    for (std::size_t t = 1; t < program.tasks.size(); ++t) {
        const auto at = static_cast<std::uint32_t>(events.dependences.size());
        events.tasks.push_back({t, 0, now += 10, TaskTeam::first_type_path, 0, at, 3});
        events.dependences.insert(events.dependences.end(), program.tasks[t].dependences.begin(), program.tasks[t].dependences.end());
    }
    const std::uint64_t barrier = now += 10;
    for (std::size_t t = 1; t < program.tasks.size(); ++t, now += 1001) events.runs.push_back({now + 1, now + 1001, t, TaskTeam::first_type_path, true, false});
    events.intervals = {{barrier, now + 5, TaskTeam::barrier_path}, {TaskTeam::begin_ns, now + 5, TaskTeam::parallel_path}};
    tools::EventPart& part = events.parts[0];
    part.intervals = 2;
    part.tasks = part.runs = static_cast<std::uint32_t>(events.tasks.size());
    part.end_ns = now + 10;
    const auto begin = std::chrono::steady_clock::now();
    const TaskGraph graph = graph_of(profile);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    RecordProperty("milliseconds", static_cast<int>(took.count() * 1000));
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(took.count(), 1);
#endif
    EXPECT_EQ(graph.complete_tasks, rows * columns);
    EXPECT_EQ(graph.depths.size(), rows + columns - 1);
    for (std::uint64_t d = 0; d < graph.depths.size(); ++d) ASSERT_EQ(graph.depths[d].tasks, std::min({d + 1, rows, columns, rows + columns - 1 - d}));
    // The last block of the wave front: its row's first is created late, and all that follow wait for nothing but their neighbours.
    std::vector<std::uint64_t> done(columns + 1);
    std::uint64_t span = 0, created = 11;
    for (std::uint64_t i = 0; i < rows; ++i)
        for (std::uint64_t j = 1; j <= columns; ++j, created += 10)
            span = std::max(span, done[j] = std::max({created, done[j], j == 1 ? 0 : done[j - 1]}) + 1000);
    EXPECT_EQ(graph.span_ns, span);
}

} // namespace libprofile::test
