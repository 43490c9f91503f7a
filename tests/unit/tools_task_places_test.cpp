// Accesses of OpenMP tasks by NUMA nodes: equal those of made-up programs, and what is not known counts as such.
#include "tests/unit/tools_task_machine.hpp"
#include "tools/report/tasks.hpp"
#include "tools/timeline/passing_events.hpp"
#include "tools/timeline/task_places.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

namespace libprofile::test {

namespace {

using tools::Profile;
using tools::TaskPlaces;

/// Tasks with up to four dependences each, on `pages` pages.
TaskProgram random_accesses(std::mt19937& random, std::size_t tasks, std::uint64_t pages) {
    TaskProgram program;
    for (std::size_t t = 0; t < tasks; ++t) {
        std::vector<tools::TracedDependence> needs;
        for (std::uint32_t d = random() % 5; d-- > 0;)
            needs.push_back({(first_numa_page + random() % pages) * numa_page + random() % numa_page, static_cast<TaskDependence>(1 + random() % 5)});
        const std::size_t task = program.create(0, needs);
        program.tasks[task].type = static_cast<std::uint32_t>(random() % TaskTeam::types);
        program.compute(task, 10 + random() % 100);
    }
    return program;
}

TaskPlaces places_of(const Profile& profile) {
    return tools::task_places(profile, 0, tools::task_graph(profile, tools::parts_of(tools::task_stretches(profile, 0))));
}

} // namespace

TEST(TaskPlaces, AccessesAreThoseOfTheProgramAndOfTheThreadsThatRanIt) {
    std::mt19937 random(24);
    for (std::uint32_t round = 0; round < 40; ++round) {
        const std::uint32_t threads = 2 + round % 5, nodes = 1 + round % 4;
        const std::uint64_t pages = 1 + random() % 60;
        const TaskProgram program = random_accesses(random, 200, pages);
        const Profile profile = on_machine(program, threads, nodes, pages, round);
        const TaskPlaces places = places_of(profile);
        std::map<std::size_t, std::uint32_t> thread_of;
        for (std::uint32_t t = 0; t < threads; ++t)
            for (const tools::TracedTaskRun& run : profile.locations[t].events.runs) thread_of[run.task] = t;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>> truth;
        std::map<std::uint32_t, std::array<std::uint64_t, 3>> by_thread; // local, remote, unknown
        double distances = 0;
        for (std::size_t task = 1; task < program.tasks.size(); ++task)
            for (const tools::TracedDependence& need : program.tasks[task].dependences) {
                const std::uint32_t thread = thread_of.at(task), worker = thread % nodes;
                const std::uint64_t p = need.address / numa_page - first_numa_page, data = p % nodes;
                const bool is_known = thread + 1 != threads && p % 7 != 0;
                ++by_thread[thread][!is_known ? 2 : worker == data ? 0 : 1];
                if (!is_known) continue;
                auto& [reads, writes] = truth[{worker, static_cast<std::uint32_t>(data)}];
                reads += need.kind != TaskDependence::Out ? 1 : 0;
                writes += need.kind != TaskDependence::In ? 1 : 0;
                distances += static_cast<double>(made_up_distance(worker, static_cast<std::uint32_t>(data))) / 10;
            }
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>> found;
        for (const TaskPlaces::Cell& cell : places.matrix) found[{cell.worker, cell.data}] = {cell.reads, cell.writes};
        EXPECT_EQ(found, truth) << round;
        ASSERT_EQ(places.threads.size(), by_thread.size());
        TaskPlaces::Sums all, tasks;
        for (const TaskPlaces::Thread& thread : places.threads) {
            EXPECT_EQ((std::array{thread.sums.local, thread.sums.remote, thread.sums.unknown}), by_thread.at(thread.location)) << round;
            all.add(thread.sums);
        }
        for (const TaskPlaces::Sums& sums : places.of_task) tasks.add(sums);
        for (const TaskPlaces::Sums* sums : {&all, &tasks}) {
            EXPECT_EQ(sums->local, places.all.local);
            EXPECT_EQ(sums->remote, places.all.remote);
            EXPECT_EQ(sums->unknown, places.all.unknown);
            EXPECT_EQ(sums->mean_distance().has_value(), sums->known() != 0);
            EXPECT_NEAR(sums->mean_distance().value_or(0) * static_cast<double>(sums->known()), distances, 1e-6) << round;
        }
        if (nodes == 1) {
            EXPECT_EQ(places.all.remote, 0u);
            EXPECT_FALSE(places.has_several_nodes());
        }
    }
}

TEST(TaskPlaces, OfATaskThatMovedTheLongestRunTells) {
    std::mt19937 random(3);
    TaskProgram program;
    const std::size_t task = program.create(0, {{first_numa_page * numa_page + numa_page, TaskDependence::In}});
    program.compute(task, 50);
    Profile profile = on_machine(program, 3, 2, 2, 1);
    for (std::uint32_t t = 0; t < 3; ++t) profile.locations[t].events.runs.clear();
    const auto add = [&](std::uint32_t thread, std::uint64_t begin, std::uint64_t end, bool is_over, bool is_resumed) {
        profile.locations[thread].events.runs.push_back(
            {begin, end, task, TaskTeam::first_type_path, is_over, is_resumed, static_cast<std::uint16_t>(10 + thread)});
        profile.locations[thread].events.parts[0].runs = 1;
    };
    for (tools::Location& location : profile.locations) location.events.parts[0].runs = 0;
    add(0, 1010, 1020, false, false);
    add(1, 1022, 1045, true, true);
    const TaskPlaces places = places_of(profile);
    EXPECT_EQ(places.all.local, 1u); // thread 1 and page 1 are on node 1
    EXPECT_EQ(places.all.remote, 0u);
}

TEST(TaskPlaces, WithoutPagesOrTopologyNothingIsKnown) {
    std::mt19937 random(5);
    const TaskProgram program = random_accesses(random, 50, 10);
    Profile profile = on_machine(program, 3, 2, 10, 1);
    const std::uint64_t all = places_of(profile).all.known() + places_of(profile).all.unknown;
    ASSERT_GT(places_of(profile).all.known(), 0u);
    for (int what = 0; what < 3; ++what) {
        Profile less = profile;
        if (what == 0) less.ranks[0].pages.reset();
        if (what == 1) less.ranks[0].affinity.reset();
        if (what == 2) less.ranks.clear();
        const TaskPlaces places = places_of(less);
        EXPECT_EQ(places.all.known(), 0u) << what;
        EXPECT_EQ(places.all.unknown, what == 2 ? 0 : all) << what;
        EXPECT_TRUE(places.matrix.empty()) << what;
    }
}

TEST(TaskPlaces, DistancesAreThoseOfTheMachineOfTheRank) {
    std::mt19937 random(9);
    const TaskProgram program = random_accesses(random, 100, 30);
    Profile profile = on_machine(program, 4, 3, 30, 1);
    const double mean = places_of(profile).all.mean_distance().value();
    EXPECT_GT(mean, 1.1);
    // Another rank of the same host has the machine, one of another host a machine with other distances.
    profile.ranks[0].host = "one";
    profile.ranks[1] = profile.ranks[2] = profile.ranks[0];
    profile.ranks[0].machine.reset();
    profile.ranks[1].host = "two";
    for (std::vector<std::uint64_t>& row : profile.ranks[1].machine->distances)
        for (std::uint64_t& value : row) value *= value;
    EXPECT_DOUBLE_EQ(places_of(profile).all.mean_distance().value(), mean);
    // A node that the machine does not have, no distances, and no machine: not known, but what is remote is.
    for (int what = 0; what < 4; ++what) {
        Profile less = profile;
        tools::MachineTree& tree = *less.ranks[2].machine;
        if (what == 0)
            for (tools::MachineNode& node : tree.nodes) node.number = node.type == MachineObject::NumaNode && node.number == 2u ? 7 : node.number;
        if (what == 1) tree.distances.clear();
        if (what == 2) less.ranks[2].machine.reset();
        if (what == 3) tree.distances[1][1] = 0;
        const TaskPlaces places = places_of(less);
        EXPECT_FALSE(places.all.mean_distance()) << what;
        EXPECT_EQ(places.all.remote, places_of(profile).all.remote) << what;
        const std::string text = document_text(tools::task_report(less, {}, {false, false, "FOLDER", {}}), {100, false, false});
        EXPECT_NE(text.find("to memory of another NUMA node"), std::string::npos);
        EXPECT_EQ(text.find("mean distance"), std::string::npos) << text;
        const nlohmann::json json = nlohmann::json::parse(document_json(tools::task_report(less, {}, {true, false, "FOLDER", {}})));
        EXPECT_TRUE(json["ranks"][0]["distance"].is_null()) << what;
    }
    const std::string text = document_text(tools::task_report(profile, {}, {false, false, "FOLDER", {}}), {300, false, false});
    EXPECT_NE(text.find(fmt::format("the mean distance of all is {:.3g} times that of a node's own memory", mean)), std::string::npos) << text;
    const nlohmann::json json = nlohmann::json::parse(document_json(tools::task_report(profile, {}, {true, false, "FOLDER", {}})));
    EXPECT_NEAR(json["ranks"][0]["distance"].get<double>(), mean, 1e-9);
    for (const nlohmann::json& row : json["node_accesses"])
        EXPECT_NEAR(row["distance"].get<double>(), static_cast<double>(made_up_distance(row["task_node"], row["data_node"])) / 10, 1e-9);
}

TEST(TaskPlaces, TheReportHasTablesOfNodesWhereThereAreSeveral) {
    std::mt19937 random(7);
    const TaskProgram program = random_accesses(random, 300, 40);
    for (const std::uint32_t nodes : {1u, 4u}) {
        const Profile profile = on_machine(program, 5, nodes, 40, 2);
        const std::string text = document_text(tools::task_report(profile, {}, {false, false, "FOLDER", {}}), {100, false, false});
        EXPECT_EQ(text.find("Memory of NUMA nodes") != std::string::npos, nodes > 1) << text;
        EXPECT_EQ(text.find("to memory of another NUMA node") != std::string::npos, nodes > 1) << text;
        const nlohmann::json json = nlohmann::json::parse(document_json(tools::task_report(profile, {}, {true, false, "FOLDER", {}})));
        const TaskPlaces places = places_of(profile);
        ASSERT_EQ(json["node_accesses"].size(), places.matrix.size());
        double share = 0;
        for (std::size_t i = 0; i < places.matrix.size(); ++i) {
            EXPECT_EQ(json["node_accesses"][i]["task_node"], places.matrix[i].worker);
            EXPECT_EQ(json["node_accesses"][i]["data_node"], places.matrix[i].data);
            EXPECT_EQ(json["node_accesses"][i]["reads"], places.matrix[i].reads);
            EXPECT_EQ(json["node_accesses"][i]["writes"], places.matrix[i].writes);
            share += json["node_accesses"][i]["share"].get<double>();
        }
        EXPECT_NEAR(share, 1, 1e-9);
        EXPECT_NEAR(json["ranks"][0]["remote"].get<double>(), static_cast<double>(places.all.remote) / static_cast<double>(places.all.known()), 1e-9);
        EXPECT_EQ(json["thread_accesses"].size(), places.threads.size());
    }
}

TEST(TaskPlaces, WhyNodesAreNotKnownIsSaidOnce) {
    std::mt19937 random(7);
    const TaskProgram program = random_accesses(random, 30, 40);
    Profile profile = on_machine(program, 3, 2, 40, 2);
    profile.ranks[0].pages->ranges.clear();
    profile.ranks[0].pages->error = 1;
    const std::string text = document_text(tools::task_report(profile, {}, {false, false, "FOLDER", {}}), {200, false, false});
    const std::size_t at = text.find("CAP_SYS_NICE");
    EXPECT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find("CAP_SYS_NICE", at + 1), std::string::npos) << text;
    profile.ranks[0].affinity->machine.numa_nodes = 1; // then it does not matter
    EXPECT_EQ(document_text(tools::task_report(profile, {}, {false, false, "FOLDER", {}}), {200, false, false}).find("CAP_SYS_NICE"), std::string::npos);
}

TEST(PassingEvents, TakeTasksByWhereTheyRanAndWhereTheirDataAre) {
    std::mt19937 random(25);
    for (std::uint32_t round = 0; round < 24; ++round) {
        const std::uint32_t nodes = 1 + round % 3, threads = nodes + 2, wanted = round % nodes, way = round % 4;
        const TaskProgram program = random_accesses(random, 300, 40);
        const Profile profile = on_machine(program, threads, nodes, 40, round);
        tools::EventFilter filter;
        (way == 0 ? filter.nodes : way == 1 ? filter.processors : way == 2 ? filter.reads : filter.writes) = {way == 1 ? 10 + wanted : wanted};
        const tools::PassingEvents passing(profile, filter);
        const auto touches = [&](std::uint64_t task) {
            for (const tools::TracedDependence& need : program.tasks[task].dependences) {
                const std::uint64_t page = need.address / numa_page - first_numa_page;
                if (page % 7 != 0 && page % nodes == wanted && need.kind != (way == 2 ? TaskDependence::Out : TaskDependence::In)) return true;
            }
            return false;
        };
        for (std::uint32_t t = 0; t < threads; ++t) {
            const std::vector<tools::TracedTaskRun>& runs = profile.locations[t].events.runs;
            const bool is_known = t + 1 != threads;
            for (std::size_t r = 0; r < runs.size(); ++r)
                EXPECT_EQ(passing.run(t, r), way == 0 ? is_known && t % nodes == wanted : way == 1 ? t == wanted : touches(runs[r].task)) << round;
        }
        filter.processors = {99};
        EXPECT_THROW(tools::PassingEvents(profile, filter), tools::FilterError);
    }
}

} // namespace libprofile::test
