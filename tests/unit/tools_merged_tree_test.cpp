// The merged call tree of many processes.
#include "tests/unit/tools_ordered_program.hpp"
#include "tools/structure/merged_tree.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <string>

namespace libprofile::tools {
namespace {

using test::OrderedProgram;
using test::Random;

/// "key visits class set" of all nodes but the root.
std::string lines_of(const MergedTree& tree) {
    std::string text;
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const MergedNode& node = tree.nodes[i];
        text += std::to_string(node.key) + " " + std::to_string(node.least);
        if (node.most != node.least) text += "-" + std::to_string(node.most);
        text += node.kind == MergedClass::Same ? " same" : node.kind == MergedClass::Differs ? " differs" : " not all";
        if (node.kind == MergedClass::NotAll)
            for (const std::uint32_t process : tree.sets[node.who]) text += " " + std::to_string(process);
        text += "\n";
    }
    return text;
}

/// By key: visits of events.
std::map<std::uint64_t, std::uint64_t> events_of(const OrderedTree& tree) {
    std::map<std::uint64_t, std::uint64_t> events;
    for (const OrderedNode& node : tree.nodes)
        if (node.own != 0) ++events[node.key];
    return events;
}

TEST(FoldedTree, HasOneNodeForThePassesOfALoop) {
    OrderedProgram program;
    const std::uint32_t solve = program.call(0, 1), send = program.call(solve, 100), receive = program.call(solve, 101), write = program.call(0, 102);
    std::vector<CallEvent> events;
    for (int step = 0; step < 1000; ++step) {
        for (int pass = 0; pass < 3 + step % 2; ++pass) {
            events.push_back({send, 2});
            events.push_back({receive});
        }
        events.push_back({write});
    }
    const FoldedTree folded = folded_tree(program.tree(events));
    ASSERT_EQ(folded.tree.nodes.size(), 5u); // root, solve, send, receive, write
    const std::vector<std::uint64_t> expected = {1, 1000, 7000, 3500, 1000};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(folded.visits[i].least, expected[i]) << i;
}

TEST(FoldedTree, HasAsManyVisitsAsTheWholeTree) {
    Random random{1};
    for (int round = 0; round < 500 / test::fewer_rounds; ++round) {
        const OrderedProgram program = test::random_program(random, 1 + random() % 12, 1 + random() % 12, 1 + random() % 6);
        const OrderedTree tree = program.tree(test::random_events(random, program, 1 + random() % 300));
        const FoldedTree folded = folded_tree(tree);
        std::map<std::uint64_t, std::uint64_t> events;
        for (std::size_t i = 0; i < folded.visits.size(); ++i)
            if (folded.tree.nodes[i].own != 0) events[folded.tree.nodes[i].key] += folded.visits[i].most;
        ASSERT_EQ(events, events_of(tree)) << "round " << round;
        ASSERT_LE(folded.tree.nodes.size(), tree.nodes.size());
    }
}

TEST(FoldedTree, IsOfAnyDepth) {
    OrderedProgram deep;
    for (std::uint32_t i = 0; i < 50'000; ++i) {
        deep.parent.push_back(i);
        deep.key.push_back(1);
    }
    EXPECT_EQ(folded_tree(deep.tree({{50'000, 3}})).visits.back().most, 3u);
    TreeMerger merger;
    merger.add(0, deep.tree({{50'000, 3}}));
    merger.add(1, deep.tree({{49'000, 3}}));
    EXPECT_EQ(merger.merge().nodes.size(), 50'001u);
}

TEST(MergedTree, TellsWhoMadeACallAndHowOften) {
    OrderedProgram program;
    const std::uint32_t solve = program.call(0, 1), send = program.call(solve, 100), receive = program.call(solve, 101), write = program.call(0, 102),
                        wait = program.call(0, 103);
    TreeMerger merger;
    merger.add(2, program.tree({{send, 3}, {receive}, {wait}}));
    merger.add(0, program.tree({{send, 5}, {receive}, {write}, {wait}}));
    merger.add(3, program.tree({{send, 3}, {receive}, {wait}}));
    merger.add(1, program.tree({{send, 4}, {receive}, {write, 2}, {wait}}));
    EXPECT_EQ(lines_of(merger.merge()), "1 1 same\n"
                                        "100 3-5 differs\n"
                                        "101 1 same\n"
                                        "102 1-2 not all 0 1\n"
                                        "103 1 same\n");
}

TEST(MergedTree, OfOneProcessIsItsFoldedTree) {
    OrderedProgram program;
    TreeMerger merger;
    merger.add(7, program.tree({{program.call(0, 100), 9}}));
    EXPECT_EQ(lines_of(merger.merge()), "100 9 same\n");
    TreeMerger empty;
    empty.add(0, program.tree({}));
    EXPECT_EQ(empty.merge().nodes.size(), 1u);
}

/// A sort that calls itself until it is done: at each level fewer processes go on.
TEST(MergedTree, ShowsHowDeepEachProcessWent) {
    OrderedProgram program;
    std::vector<std::uint32_t> swap_at;
    for (std::uint32_t level = 0, sort = 0; level < 20; ++level) {
        sort = program.call(sort, 1);
        swap_at.push_back(program.call(sort, 100));
    }
    TreeMerger merger;
    for (std::uint32_t process = 0; process < 10; ++process) {
        std::vector<CallEvent> events;
        for (std::uint32_t level = 0; level < 10 + process; ++level) events.push_back({swap_at[level]});
        merger.add(process, program.tree(events));
    }
    const MergedTree merged = merger.merge();
    ASSERT_EQ(merged.nodes.size(), 1u + 2 * 19);
    std::size_t level = 0;
    for (const MergedNode& node : merged.nodes) {
        if (node.key != 100) continue;
        ++level;
        EXPECT_EQ(merged.sets[node.who].size(), level <= 10 ? 10 : 20 - level);
        EXPECT_EQ(node.kind, level <= 10 ? MergedClass::Same : MergedClass::NotAll);
    }
}

/// More kinds of processes than are compared in pairs.
TEST(MergedTree, HoldsTheVisitsOfEachProcess) {
    Random random{3};
    for (const std::uint32_t processes : {3, 20, 100}) {
        const OrderedProgram program = test::random_program(random, 8, 12, 6);
        const auto events = test::random_events(random, program, 200);
        TreeMerger merger;
        std::vector<OrderedTree> trees;
        for (std::uint32_t process = 0; process < processes; ++process) {
            trees.push_back(program.tree(process % 3 == 0 ? events : test::edited(random, events, 20)));
            merger.add(process, trees.back());
        }
        const MergedTree merged = merger.merge();
        EXPECT_EQ(merged.sets[merged.nodes[0].who].size(), processes);
        std::size_t nodes = 0;
        for (const OrderedTree& tree : trees) nodes += tree.nodes.size();
        EXPECT_LT(merged.nodes.size(), nodes);
        for (std::uint32_t process = 0; process < processes; ++process)
            for (const auto& [key, count] : events_of(trees[process])) {
                std::uint64_t least = 0, most = 0;
                for (const MergedNode& node : merged.nodes) {
                    const std::vector<std::uint32_t>& who = merged.sets[node.who];
                    if (node.key != key || !std::binary_search(who.begin(), who.end(), process)) continue;
                    least += node.least;
                    most += node.most;
                }
                ASSERT_LE(least, count);
                ASSERT_GE(most, count);
            }
    }
}

TEST(MergedTree, HasAsManyNodesForManyEqualProcessesAsForOne) {
    OrderedProgram program;
    const std::uint32_t send = program.call(program.call(0, 1), 100), receive = program.call(0, 101);
    TreeMerger merger;
    for (std::uint32_t process = 0; process < 10'000; ++process) merger.add(process, program.tree({{send, 1 + process % 200}, {receive}}));
    const MergedTree merged = merger.merge();
    EXPECT_EQ(lines_of(merged), "1 1 same\n100 1-200 differs\n101 1 same\n");
    EXPECT_EQ(merged.sets.size(), 1u);
}

} // namespace
} // namespace libprofile::tools
