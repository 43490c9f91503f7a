// Alignment of call trees: against a literal table of costs, which tries all pairings that the rule allows.
#include "tests/unit/tools_ordered_program.hpp"
#include "tools/structure/tree_alignment.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace libprofile::tools {
namespace {

using test::OrderedProgram;
using test::Random;

/// Events without a partner, of nodes that are partners: children in order, with equal keys, or without a partner.
std::uint64_t literal_cost(const OrderedTree& a, const OrderedTree& b, std::uint32_t node_a, std::uint32_t node_b) {
    const std::vector<std::uint32_t> list_a = a.children(node_a), list_b = b.children(node_b);
    std::vector<std::vector<std::uint64_t>> cost(list_a.size() + 1, std::vector<std::uint64_t>(list_b.size() + 1));
    for (std::size_t i = 0; i <= list_a.size(); ++i)
        for (std::size_t j = 0; j <= list_b.size(); ++j) {
            std::uint64_t least = i == 0 && j == 0 ? 0 : std::uint64_t(-1);
            if (i != 0) least = std::min(least, cost[i - 1][j] + a.nodes[list_a[i - 1]].events);
            if (j != 0) least = std::min(least, cost[i][j - 1] + b.nodes[list_b[j - 1]].events);
            if (i != 0 && j != 0 && a.nodes[list_a[i - 1]].key == b.nodes[list_b[j - 1]].key)
                least = std::min(least, cost[i - 1][j - 1] + literal_cost(a, b, list_a[i - 1], list_b[j - 1]));
            cost[i][j] = least;
        }
    return cost.back().back() + (a.nodes[node_a].own != b.nodes[node_b].own);
}

/// Partners have equal keys and partners as parents, and stand in the same order.
void expect_follows_the_rule(const OrderedTree& a, const OrderedTree& b, const TreeAlignment& alignment) {
    ASSERT_EQ(alignment.partner.size(), a.nodes.size());
    std::uint32_t last = 0;
    std::uint64_t events_a = 0, events_b = 0;
    for (const OrderedNode& node : b.nodes) events_b += node.own;
    for (std::uint32_t i = 0; i < a.nodes.size(); ++i) {
        const std::uint32_t j = alignment.partner[i];
        if (j == no_partner) {
            events_a += a.nodes[i].own;
            continue;
        }
        ASSERT_LT(j, b.nodes.size());
        ASSERT_TRUE(i == 0 || j > last);
        ASSERT_EQ(a.nodes[i].key, b.nodes[j].key);
        ASSERT_EQ(alignment.partner[a.nodes[i].parent], b.nodes[j].parent);
        if (a.nodes[i].own > b.nodes[j].own) ++events_a;
        if (a.nodes[i].own == b.nodes[j].own) events_b -= b.nodes[j].own;
        last = j;
    }
    ASSERT_EQ(alignment.events_a, events_a);
    ASSERT_EQ(alignment.events_b, events_b);
}

struct RandomPair {
    OrderedTree a, b;
    RandomPair(Random& random, int round) {
        const std::size_t most = round % 100 == 0 ? 500 : 40;
        const OrderedProgram program = test::random_program(random, 1 + random() % 12, 1 + random() % 12, 1 + random() % 6);
        const auto events = test::random_events(random, program, 1 + random() % most);
        a = program.tree(events);
        b = program.tree(round % 4 == 0 ? test::random_events(random, program, 1 + random() % most) : test::edited(random, events, 4 + random() % 20));
    }
};

TEST(OrderedTree, KeepsCallsInOrderInTheActivationsThatNeighboursShare) {
    OrderedProgram program;
    const std::uint32_t main = program.call(0, 1), solve = program.call(main, 2), send = program.call(solve, 100), receive = program.call(solve, 101),
                        write = program.call(main, 102);
    const OrderedTree tree = program.tree({{send}, {receive, 2, 6.0}, {write}, {send}});
    std::vector<std::uint64_t> keys;
    for (const OrderedNode& node : tree.nodes) keys.push_back(node.key);
    EXPECT_EQ(keys, (std::vector<std::uint64_t>{0, 1, 2, 100, 101, 101, 102, 2, 100}));
    EXPECT_EQ(tree.children(1), (std::vector<std::uint32_t>{2, 6, 7}));
    EXPECT_EQ(tree.nodes[0].events, 5u);
    EXPECT_EQ(tree.nodes[2].events, 3u);
    EXPECT_EQ(tree.nodes[2].end, 6u);
    EXPECT_EQ(tree.time[4], 3.0);
    EXPECT_NE(tree.nodes[2].hash, tree.nodes[7].hash);
    EXPECT_EQ(tree.nodes[3].hash, tree.nodes[8].hash);
    EXPECT_EQ(program.tree({}).nodes.size(), 1u);
}

TEST(OrderedTree, ARegionHoldsTheEventsInsideIt) {
    OrderedProgram program;
    const std::uint32_t region = program.call(0, 1), send = program.call(region, 100);
    const OrderedTree tree = program.tree({{region}, {send}, {region}, {send}});
    EXPECT_EQ(tree.children(0).size(), 2u);
    EXPECT_EQ(tree.nodes[0].events, 4u);
    EXPECT_EQ(tree.nodes[1].events, 2u);
}

TEST(OrderedTree, IsNotMadeIfItWouldBeTooLarge) {
    OrderedProgram program;
    const std::uint32_t send = program.call(0, 100);
    const std::vector<CallEvent> many = {{send, ~std::uint64_t{0}}}, few = {{send, 99}};
    EXPECT_FALSE(ordered_tree(many, program.parent, program.key));
    EXPECT_FALSE(ordered_tree(few, program.parent, program.key, 99));
    EXPECT_TRUE(ordered_tree(few, program.parent, program.key, 100));
}

TEST(TreeAlignment, CostsAsLittleAsTheRuleAllows) {
    Random random{1};
    for (int round = 0; round < 10'000 / test::fewer_rounds; ++round) {
        const RandomPair pair(random, round);
        const TreeAlignment alignment = align_trees(pair.a, pair.b);
        expect_follows_the_rule(pair.a, pair.b, alignment);
        ASSERT_EQ(alignment.cost(), literal_cost(pair.a, pair.b, 0, 0)) << "round " << round;
    }
}

/// Large trees get few cells by node; lists that these are not enough for begin with their equal subtrees.
TEST(TreeAlignment, CostsLittleMoreIfNotAllIsTriedOut) {
    Random random{2};
    double least = 0, some = 0, none = 0;
    for (int round = 1; round < 4'000 / test::fewer_rounds; ++round) {
        const RandomPair pair(random, round);
        if (round % 4 == 0) continue; // nothing to do with each other
        const TreeAlignment few_cells = align_trees(pair.a, pair.b, 8 * (pair.a.nodes.size() + pair.b.nodes.size())), no_cells = align_trees(pair.a, pair.b, 0);
        expect_follows_the_rule(pair.a, pair.b, few_cells);
        expect_follows_the_rule(pair.a, pair.b, no_cells);
        const std::uint64_t cost = align_trees(pair.a, pair.b).cost();
        ASSERT_GE(few_cells.cost(), cost);
        ASSERT_GE(no_cells.cost(), cost);
        least += static_cast<double>(cost);
        some += static_cast<double>(few_cells.cost());
        none += static_cast<double>(no_cells.cost());
    }
    EXPECT_LT(some, 1.2 * least);
    EXPECT_LT(none, 1.25 * least);
}

TEST(TreeAlignment, OfEqualTreesAllNodesArePartners) {
    Random random{3};
    const RandomPair pair(random, 0);
    const TreeAlignment alignment = align_trees(pair.a, pair.a);
    for (std::uint32_t i = 0; i < alignment.partner.size(); ++i) EXPECT_EQ(alignment.partner[i], i);
    EXPECT_EQ(alignment.cost(), 0u);
}

TEST(TreeAlignment, MatchesTheCallsOfAnotherBuild) {
    OrderedProgram old_build, new_build;
    const std::uint32_t solve = old_build.call(0, 2), send = old_build.call(solve, 100);
    new_build.call(0, 9); // call paths have other numbers
    const std::uint32_t new_solve = new_build.call(0, 2);
    new_build.call(new_solve, 101);
    const std::uint32_t new_send = new_build.call(new_solve, 100);
    EXPECT_EQ(align_trees(old_build.tree({{send, 7}}), new_build.tree({{new_send, 7}})).cost(), 0u);
}

TEST(TreeAlignment, TellsTheTimeOfEventsWithoutAPartner) {
    OrderedProgram program;
    const std::uint32_t send = program.call(0, 100), receive = program.call(0, 101);
    const TreeAlignment alignment = align_trees(program.tree({{send, 2, 4.0}, {receive, 1, 5.0}}), program.tree({{send, 3, 9.0}}));
    EXPECT_EQ(alignment.events_a, 1u);
    EXPECT_EQ(alignment.events_b, 1u);
    EXPECT_EQ(alignment.time_a, 5.0);
    EXPECT_EQ(alignment.time_b, 3.0);
}

/// A wide list, and a chain of functions that is deeper than any stack.
TEST(TreeAlignment, IsOfAnyWidthAndDepth) {
    Random random{4};
    for (const std::uint64_t names : {3, 1000}) {
        OrderedProgram flat;
        std::vector<std::uint32_t> calls;
        for (std::uint64_t name = 0; name < names; ++name) calls.push_back(flat.call(0, 100 + name));
        std::vector<CallEvent> events;
        for (int i = 0; i < 100'000; ++i) events.push_back({calls[random() % names]});
        const auto others = test::edited(random, events, 20);
        const TreeAlignment alignment = align_trees(flat.tree(events), flat.tree(others));
        EXPECT_LT(alignment.cost(), 11'000u) << names;
    }
    OrderedProgram deep;
    for (std::uint32_t i = 0; i < 50'000; ++i) {
        deep.parent.push_back(i);
        deep.key.push_back(1);
    }
    const OrderedTree a = deep.tree({{50'000}}), b = deep.tree({{50'000, 2}});
    EXPECT_EQ(align_trees(a, b).cost(), 1u);
}

} // namespace
} // namespace libprofile::tools
