// An iteration with the phases that lie inside it.
#include "tests/unit/tools_nested_profile.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/selected_tree.hpp"

#include <gtest/gtest.h>

namespace libprofile::tools {

namespace {

using test::in_steps;
using test::in_sweeps;
using test::Inside;
using test::nested;
using test::phase_of;

constexpr std::uint64_t all_paths = ~std::uint64_t{0};
std::uint64_t sum(const std::vector<SelectedCell>& cells, Metric metric, std::uint64_t path = all_paths) {
    std::uint64_t all = 0;
    for (const SelectedCell& cell : cells)
        if (cell.metric == static_cast<std::uint32_t>(metric) && (path == all_paths || cell.path == path)) all += cell.value;
    return all;
}

WithInside all_of(const Profile& p, const std::vector<IterationRange>& ranges) { return cells_with_inside(p, p.locations[0], phase_of(p, "step"), ranges); }

} // namespace

TEST(Inside, IterationsTakeTheirWallTimeWithAllThatLiesInside) {
    const Profile p = nested(in_steps, in_sweeps);
    const WithInside each = all_of(p, {{0, 0}, {1, 1}, {2, 2}});
    ASSERT_EQ(each.cells.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sum(each.cells[i], Metric::Time), phase_of(p, "step").iteration_ns[i]) << i;
    EXPECT_TRUE(each.is_scaled);
    // Visits: a call of its own, one in each sweep, and of the phase without iterations by how often it was entered.
    EXPECT_EQ(sum(each.cells[0], Metric::Visits), 1u + 2 + 2);
    EXPECT_EQ(sum(each.cells[1], Metric::Visits), 1u + 1);
    EXPECT_EQ(sum(each.cells[2], Metric::Visits), 1u + 1 + 6);
    const WithInside whole = all_of(p, {{0, 2}});
    EXPECT_EQ(sum(whole.cells[0], Metric::Time), 303u + 46 + 4000 + 7);
    EXPECT_FALSE(whole.is_scaled);
    for (const SelectedCell& cell : whole.cells[0]) EXPECT_FALSE(cell.estimated);
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
    const Profile circle = nested({{0, {{2, 1, 0}}}}, {{0, {{1, 1, 0}}}});
    ASSERT_FALSE(circle.notes.empty());
    EXPECT_NE(circle.notes.back().find("in themselves"), std::string::npos) << circle.notes.back();
    EXPECT_TRUE(nested({{0, {{2, 1, 0}}}}, {{1, {{1, 1, 2}}}}).notes.empty()) << "now one is in the other, now the other way round";
    // Phases inside each other, iterations that are not there, more time than there is: whatever comes, it ends.
    const std::pair<Inside, Inside> odd[] = {
        {{{0, {{2, 4, 0}}}}, {{0, {{1, 3, 0}}}}}, {{{9, {{2, 4, 0}}}}, {{0, {{9, 3, 0}}}}}, {{{0, {{2, 1u << 31, 1}, {3, 1u << 31, ~std::uint64_t{0}}}}}, {}}};
    for (const auto& [steps, sweeps] : odd) {
        const Profile p = nested(steps, sweeps);
        EXPECT_EQ(all_of(p, {{0, 2}}).cells.size(), 1u);
        EXPECT_LE(rows_inside(p, p.locations[0], phase_of(p, "step")).rows.size(), 3u);
    }
}

} // namespace libprofile::tools
