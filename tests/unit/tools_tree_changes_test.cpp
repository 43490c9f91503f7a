// Changes between two call trees: each kind, made to random programs, is reported as just that.
#include "tests/unit/tools_call_edits.hpp"
#include "tests/unit/tools_ordered_program.hpp"
#include "tools/structure/tree_changes.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <set>

namespace libprofile::tools {
namespace {

using test::OrderedProgram;
using test::Random;

constexpr std::uint64_t new_key = 1000; // occurs in no program

using Call = test::EditableCall<std::uint64_t>;

const test::CallNames<std::uint64_t> names{20, 6, [](std::uint64_t number) { return 1 + number; }, [](std::uint64_t number) { return 100 + number; }};

void add_events(const Call& call, OrderedProgram& program, std::uint32_t path, std::vector<CallEvent>& events) {
    for (const Call& next : call.calls) {
        const std::uint32_t to = program.call(path, next.what);
        next.calls.empty() ? events.push_back({to}) : add_events(next, program, to, events);
    }
}

OrderedTree tree_of(const Call& root, OrderedProgram& program) {
    std::vector<CallEvent> events;
    add_events(root, program, 0, events);
    return program.tree(events);
}

std::vector<TreeChange> changes_between(const Call& a, const Call& b) {
    OrderedProgram program;
    const OrderedTree tree_a = tree_of(a, program), tree_b = tree_of(b, program);
    return tree_changes(tree_a, tree_b).changes;
}

std::string words(const std::vector<TreeChange>& changes) {
    std::string all;
    for (const TreeChange& change : changes) all += std::string(tree_change_name(change.kind)) + " x" + std::to_string(change.times) + ", ";
    return all;
}

/// @param edit does it to a function: before and after; false: it cannot
void expect_just(TreeChangeKind kind, TreeChangeKind reverse, const test::CallEdit<std::uint64_t>& edit) {
    Random random{7};
    int done = 0;
    for (int round = 0; round < 2'000 / test::fewer_rounds; ++round) {
        Call a = random_call(random, names, 4), b = a;
        std::vector<Call*> before, after;
        collect(a, before);
        collect(b, after);
        const std::size_t chosen = random() % before.size();
        if (!edit(random, *before[chosen], *after[chosen])) continue;
        ++done;
        for (const bool is_forward : {true, false}) {
            const std::vector<TreeChange> changes = is_forward ? changes_between(a, b) : changes_between(b, a);
            ASSERT_EQ(changes.size(), 1u) << "round " << round << (is_forward ? " forward: " : " back: ") << words(changes);
            ASSERT_EQ(changes[0].kind, is_forward ? kind : reverse) << "round " << round << ": " << words(changes);
            ASSERT_EQ(changes[0].times, 1u);
        }
    }
    EXPECT_GT(done, 300 / test::fewer_rounds);
}

TEST(TreeChanges, OfEqualTreesThereAreNone) {
    Random random{1};
    const Call call = random_call(random, names, 4);
    EXPECT_TRUE(changes_between(call, call).empty());
}

TEST(TreeChanges, AnAddedCallIsJustThat) {
    expect_just(TreeChangeKind::Added, TreeChangeKind::Removed, [](Random& random, Call&, Call& after) {
        after.calls.insert(place(after.calls, random() % (after.calls.size() + 1)), Call{new_key, {}});
        return true;
    });
}

TEST(TreeChanges, AnAddedFunctionIsJustThat) {
    expect_just(TreeChangeKind::Added, TreeChangeKind::Removed, [](Random& random, Call&, Call& after) {
        Call added = random_call(random, names, 2);
        added.what = new_key;
        after.calls.insert(place(after.calls, random() % (after.calls.size() + 1)), added);
        return true;
    });
}

TEST(TreeChanges, ARenamedFunctionIsJustThat) { expect_just(TreeChangeKind::Renamed, TreeChangeKind::Renamed, test::renamed_to(new_key)); }

TEST(TreeChanges, AnInlinedFunctionIsJustThat) { expect_just(TreeChangeKind::Inlined, TreeChangeKind::Outlined, test::inlined(new_key)); }

TEST(TreeChanges, SwappedPhasesAreJustThat) {
    expect_just(TreeChangeKind::Moved, TreeChangeKind::Moved, test::swapped<std::uint64_t>(names, [](std::size_t i) { return new_key + i; }));
}

/// A loop with a pass of one to three calls: 3 passes become 4.
TEST(TreeChanges, AFurtherPassOfALoopIsJustThat) {
    expect_just(TreeChangeKind::MoreOften, TreeChangeKind::LessOften, [](Random& random, Call& before, Call& after) {
        std::vector<Call> pass;
        for (std::size_t i = 0, length = 1 + random() % 3; i < length; ++i) pass.push_back(Call{new_key + i, {}});
        const std::size_t at = random() % (before.calls.size() + 1);
        for (int i = 0; i < 4; ++i) {
            if (i != 0) before.calls.insert(place(before.calls, at), pass.begin(), pass.end());
            after.calls.insert(place(after.calls, at), pass.begin(), pass.end());
        }
        return true;
    });
}

/// It splits activations: what is before it and what is behind it are no neighbours any more.
TEST(TreeChanges, AnAddedCallInsideActivationsIsJustThat) {
    Random random{9};
    for (int round = 0; round < 3'000 / test::fewer_rounds; ++round) {
        OrderedProgram program;
        const Call call = random_call(random, names, 4);
        std::vector<CallEvent> before;
        add_events(call, program, 0, before);
        std::vector<CallEvent> after = before;
        const std::size_t at = random() % (before.size() + 1);
        std::uint32_t around = before[std::min(at, before.size() - 1)].path;
        do around = program.parent[around];
        while (around != 0 && random() % 2 == 0);
        after.insert(after.begin() + static_cast<std::ptrdiff_t>(at), CallEvent{program.call(around, new_key)});
        for (const bool is_forward : {true, false}) {
            const OrderedTree a = program.tree(is_forward ? before : after), b = program.tree(is_forward ? after : before);
            const std::vector<TreeChange> changes = tree_changes(a, b).changes;
            ASSERT_EQ(changes.size(), 1u) << "round " << round << ": " << words(changes);
            ASSERT_EQ(changes[0].kind, is_forward ? TreeChangeKind::Added : TreeChangeKind::Removed) << "round " << round;
            ASSERT_EQ(changes[0].events, 1u);
        }
    }
}

TEST(TreeChanges, CountHowOftenAndHowManyEvents) {
    OrderedProgram program;
    const std::uint32_t solve = program.call(0, 1), send = program.call(solve, 100), wait = program.call(solve, 101), write = program.call(0, 102);
    const OrderedTree a = program.tree({{send, 3}, {wait}, {write}, {send, 3}, {wait}, {write}}),
                      b = program.tree({{send, 5, 10.0}, {wait}, {write}, {send, 4, 8.0}, {wait}, {write}});
    const TreeChanges found = tree_changes(a, b);
    ASSERT_EQ(found.changes.size(), 1u) << words(found.changes);
    EXPECT_EQ(found.changes[0].kind, TreeChangeKind::MoreOften);
    EXPECT_EQ(found.changes[0].times, 3u);
    EXPECT_EQ(found.changes[0].events, 3u);
    EXPECT_EQ(found.changes[0].time, 6.0);
    EXPECT_EQ(b.nodes[found.changes[0].node_b].path, send);
    EXPECT_EQ(found.alignment.events_b, 3u);
}

TEST(TreeChanges, BelowARenamedFunctionAreToldToo) {
    const Call a{0, {Call{1, {Call{100, {}}, Call{101, {}}, Call{102, {}}}}}}, b{0, {Call{2, {Call{100, {}}, Call{101, {}}, Call{102, {}}, Call{103, {}}}}}};
    EXPECT_EQ(words(changes_between(a, b)), "renamed x1, added x1, ");
}

/// Any two trees: each event without a partner is in a change.
TEST(TreeChanges, TellOfAllEventsWithoutAPartner) {
    Random random{5};
    for (int round = 0; round < 3'000 / test::fewer_rounds; ++round) {
        const OrderedProgram program = test::random_program(random, 1 + random() % 12, 1 + random() % 12, 1 + random() % 6);
        const auto events = test::random_events(random, program, 1 + random() % 80);
        const OrderedTree a = program.tree(events), b = program.tree(test::edited(random, events, 4 + random() % 20));
        const TreeChanges found = tree_changes(a, b);
        std::uint64_t removed = 0, added = 0, moved = 0;
        for (const TreeChange& change : found.changes) {
            if (change.kind == TreeChangeKind::Removed || change.kind == TreeChangeKind::LessOften) removed += change.events;
            if (change.kind == TreeChangeKind::Added || change.kind == TreeChangeKind::MoreOften) added += change.events;
            if (change.kind == TreeChangeKind::Moved) moved += change.events;
        }
        ASSERT_EQ(found.alignment.events_a, removed + moved) << "round " << round << ": " << words(found.changes);
        ASSERT_EQ(found.alignment.events_b, added + moved) << "round " << round << ": " << words(found.changes);
        ASSERT_LE(found.alignment.cost(), align_trees(a, b).cost());
    }
}

} // namespace
} // namespace libprofile::tools
