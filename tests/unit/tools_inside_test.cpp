// An iteration with the phases that lie inside it.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/selected_tree.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace libprofile::tools {

namespace {

using test::BuiltPhase;
using test::ProfileBuilder;
using Inside = std::map<std::uint64_t, std::vector<std::array<std::uint64_t, 3>>>;

/// An iteration of one call to MPI each.
BuiltPhase iterated(const std::string& name, const std::vector<std::uint64_t>& own, const std::vector<std::uint64_t>& wall, std::uint64_t node) {
    BuiltPhase phase;
    phase.name = name;
    phase.kind = PhaseKind::Iterations;
    phase.instances = own.size();
    phase.wall_ns = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
    phase.wall_inclusive_ns = std::accumulate(wall.begin(), wall.end(), std::uint64_t{0});
    phase.clusters = {{own.size(), 0, {{node, Metric::Time, phase.wall_ns}, {node, Metric::Visits, own.size()}}}};
    phase.cluster_of_iteration.assign(own.size(), 0);
    phase.iteration_ns = wall;
    return phase;
}

/// Steps 0 to 2 with sweeps {0, 1}, {2} and {3}; sweep 3 contains a nap; solving in steps 0 and 2. Exclusive times: step i has 100 + i,
/// sweep i has 10 + i, solving 1000 and 3000, the nap 7. Nodes: 1 main, 2 MPI_Allreduce (steps), 3 MPI_Bcast (sweeps), 4 solve.
Profile nested(const Inside& of_steps, const Inside& of_sweeps) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(test::sample_rank_record(0));
    b.modules(0, {{"BUILD", "/app"}});
    b.functions(0, {{3, "MPI_Allreduce", TimeCategory::MpiColl}, {4, "MPI_Bcast", TimeCategory::MpiColl}});
    b.tree(0, 0, 303 + 46 + 4000 + 7, {{0, NodeKind::Frame, 0, 0x10}, {1, NodeKind::Mpi, 3, 0}, {1, NodeKind::Mpi, 4, 0}, {1, NodeKind::Frame, 0, 0x20}});
    BuiltPhase outside;
    outside.wall_inclusive_ns = 303 + 46 + 4000 + 7;
    b.phase(0, outside);
    b.phase(0, iterated("step", {100, 101, 102}, {100 + 21 + 1000, 101 + 12, 102 + 13 + 7 + 3000}, 2));
    b.phase(0, iterated("sweep", {10, 11, 12, 13}, {10, 11, 12, 13 + 7}, 3));
    b.series(0, "step", 2, {1, 1, 1}, {100, 101, 102});
    b.series(0, "sweep", 3, {1, 1, 1, 1}, {10, 11, 12, 13});
    BuiltPhase solve;
    solve.name = "solve";
    solve.kind = PhaseKind::Aggregate;
    solve.instances = 4;
    solve.wall_ns = solve.wall_inclusive_ns = 4000;
    solve.rest = {{3, Metric::Time, 1000}, {3, Metric::Visits, 8}, {4, Metric::Time, 3000}, {4, Metric::Samples, 4}};
    b.phase(0, solve);
    BuiltPhase nap = solve;
    nap.name = "nap";
    nap.instances = 1;
    nap.wall_ns = nap.wall_inclusive_ns = 7;
    nap.rest = {{1, Metric::Time, 7}};
    b.phase(0, nap);
    if (!of_steps.empty())
        b.inside(0, 1, of_steps, 3);
    if (!of_sweeps.empty())
        b.inside(0, 2, of_sweeps, 4);
    return test::read_one(b.bytes());
}

const Inside in_steps = {{0, {{2, 2, 0}, {3, 1, 1000}}}, {1, {{2, 1, 2}}}, {2, {{2, 1, 3}, {3, 3, 3000}}}};
const Inside in_sweeps = {{3, {{4, 1, 7}}}};

const PhaseData& phase_of(const Profile& p, const std::string& name) {
    for (const PhaseData& data : p.locations[0].phases)
        if (p.phases[data.phase].name == name)
            return data;
    throw std::runtime_error("no phase " + name);
}

constexpr std::uint64_t all_paths = ~std::uint64_t{0};
std::uint64_t sum(const std::vector<SelectedCell>& cells, Metric metric, std::uint64_t path = all_paths) {
    std::uint64_t all = 0;
    for (const SelectedCell& cell : cells)
        if (cell.metric == static_cast<std::uint32_t>(metric) && (path == all_paths || cell.path == path))
            all += cell.value;
    return all;
}

WithInside all_of(const Profile& p, const std::vector<IterationRange>& ranges) {
    return cells_with_inside(p, p.locations[0], phase_of(p, "step"), ranges);
}

} // namespace

TEST(Inside, IterationsTakeTheirWallTimeWithAllThatLiesInside) {
    const Profile p = nested(in_steps, in_sweeps);
    const WithInside each = all_of(p, {{0, 0}, {1, 1}, {2, 2}});
    ASSERT_EQ(each.cells.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(sum(each.cells[i], Metric::Time), phase_of(p, "step").iteration_ns[i]) << i;
    EXPECT_TRUE(each.is_scaled);
    // Visits: a call of its own, one in each sweep, and of the phase without iterations by how often it was entered.
    EXPECT_EQ(sum(each.cells[0], Metric::Visits), 1u + 2 + 2);
    EXPECT_EQ(sum(each.cells[1], Metric::Visits), 1u + 1);
    EXPECT_EQ(sum(each.cells[2], Metric::Visits), 1u + 1 + 6);
    const WithInside whole = all_of(p, {{0, 2}});
    EXPECT_EQ(sum(whole.cells[0], Metric::Time), 303u + 46 + 4000 + 7);
    EXPECT_FALSE(whole.is_scaled);
    for (const SelectedCell& cell : whole.cells[0])
        EXPECT_FALSE(cell.estimated);
    EXPECT_TRUE(p.notes.empty()) << p.notes.front();
}

TEST(Inside, TimeOfWhichNothingElseIsKnownHasNoCallPath) {
    for (const bool told : {true, false}) {
        const Profile p = nested(told ? Inside{{1, {{2, 1, 2}}}} : Inside{}, {});
        const WithInside each = all_of(p, {{0, 0}, {1, 1}});
        EXPECT_EQ(sum(each.cells[0], Metric::Time), 100u + 21 + 1000);
        EXPECT_EQ(sum(each.cells[0], Metric::Time, 0), 21u + 1000);
        EXPECT_EQ(sum(each.cells[1], Metric::Time, 0), told ? 0u : 12u);
        TreeChoice choice{{&p.locations[0]}, phase_of(p, "step").phase, {0, 0}, false, {0}, {0, static_cast<std::size_t>(CatalogueId::Mpi)}};
        const SelectedTree tree = select_tree(p, make_function_tree(p, choice.locations, false, ""), choice);
        EXPECT_EQ(tree.untold, 21u + 1000);
        EXPECT_EQ(tree.totals[0].value, 100u + 21 + 1000);
        EXPECT_EQ(tree.totals[1].value, 100u) << "it is booked under no kind of time";
        choice.exclusive = true;
        EXPECT_EQ(select_tree(p, make_function_tree(p, choice.locations, false, ""), choice).totals[0].value, 100u);
    }
}

TEST(Inside, WholeIterationsHaveTheRowsOfWhatLiesInside) {
    const Profile p = nested(in_steps, in_sweeps);
    const RowsInside rows = rows_inside(p, p.locations[0], phase_of(p, "step"));
    ASSERT_EQ(rows.rows.size(), 3u);
    EXPECT_FALSE(rows.is_exact);
    EXPECT_EQ(rows.rows[0][0], 21u + 1000);
    EXPECT_EQ(rows.rows[1][static_cast<std::size_t>(CatalogueId::Visits)], 1u);
    EXPECT_EQ(rows.rows[2][0], 13u + 7 + 3000);
    EXPECT_TRUE(rows_inside(p, p.locations[0], phase_of(p, "solve")).rows.empty());
    EXPECT_EQ(phases_inside(p.locations[0], phase_of(p, "step")).size(), 3u);
}

TEST(Inside, WhatCannotBeIsRefused) {
    const Inside itself = {{0, {{1, 1, 0}}}};
    EXPECT_FALSE(nested(itself, {}).notes.empty());
    // Phases inside each other, iterations that are not there, more time than there is: whatever comes, it ends.
    const std::pair<Inside, Inside> odd[] = {{{{0, {{2, 4, 0}}}}, {{0, {{1, 3, 0}}}}},
                                             {{{9, {{2, 4, 0}}}}, {{0, {{9, 3, 0}}}}},
                                             {{{0, {{2, 1u << 31, 1}, {3, 1u << 31, ~std::uint64_t{0}}}}}, {}}};
    for (const auto& [steps, sweeps] : odd) {
        const Profile p = nested(steps, sweeps);
        EXPECT_EQ(all_of(p, {{0, 2}}).cells.size(), 1u);
        EXPECT_LE(rows_inside(p, p.locations[0], phase_of(p, "step")).rows.size(), 3u);
    }
}

} // namespace libprofile::tools
