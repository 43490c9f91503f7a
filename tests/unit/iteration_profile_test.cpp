#include "libprofile/clustering/condensed_vector.hpp"
#include "libprofile/clustering/iteration_profile.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace libprofile {

namespace {

using Plain = std::map<std::uint32_t, std::uint64_t>;

Plain plain(const IterationProfile& profile) {
    Plain result;
    for (std::uint32_t i = 0; i < profile.size; ++i) result[profile.cells[i].key] = profile.cells[i].value;
    return result;
}

} // namespace

TEST(IterationProfile, TakesTheNonZeroValuesInOrder) {
    Arena arena;
    Pool pool(arena);
    CallTree tree(arena);
    ASSERT_TRUE(tree.start());
    Accumulator rows;
    rows.row(9, tree, arena)[Metric::Time] = 5;
    rows.row(2, tree, arena)[Metric::Visits] = 7;
    rows.row(2, tree, arena)[Metric::Time] = 1;
    rows.row(4, tree, arena); // all zero
    IterationProfile profile;
    ASSERT_TRUE(profile.take(rows, pool));
    ASSERT_EQ(profile.size, 3u);
    EXPECT_EQ(profile.cells[0].node(), 2u);
    EXPECT_EQ(profile.cells[0].metric(), static_cast<std::uint32_t>(Metric::Time));
    EXPECT_EQ(profile.cells[1].node(), 2u);
    EXPECT_EQ(profile.cells[2].node(), 9u);
    EXPECT_EQ(profile.cells[2].value, 5u);
}

TEST(IterationProfile, SumsEqualThoseOfAPlainMap) {
    Arena arena;
    Pool pool(arena);
    CallTree tree(arena);
    ASSERT_TRUE(tree.start());
    std::mt19937_64 random(2);
    IterationProfile sums;
    Plain expected;
    for (int round = 0; round < 300; ++round) {
        Accumulator rows;
        for (int touched = 0; touched < 20; ++touched) {
            const auto node = static_cast<NodeId>(random() % 60);
            const auto metric = random() % metric_count;
            const std::uint64_t value = random() % 1000;
            rows.row(node, tree, arena)[static_cast<Metric>(metric)] += value;
            if (value != 0) expected[Cell::make_key(node, metric)] += value;
        }
        IterationProfile one;
        ASSERT_TRUE(one.take(rows, pool));
        ASSERT_TRUE(sums.add(one, pool));
        one.release(pool);
    }
    EXPECT_EQ(plain(sums), expected);
}

TEST(IterationProfile, TakesRandomRowsWhateverTheirOrder) {
    Arena arena;
    Pool pool(arena);
    CallTree tree(arena);
    ASSERT_TRUE(tree.start());
    for (std::uint32_t i = 0; i < 100; ++i) tree.child(0, NodeKind::Mpi, i % 3, i);
    std::mt19937_64 random(21);
    Accumulator rows;
    for (int round = 0; round < 50; ++round) {
        Plain expected;
        for (int i = 0; i < 200; ++i) {
            const auto node = static_cast<NodeId>(random() % tree.size());
            const std::size_t metric = random() % metric_count;
            const std::uint64_t delta = random() % 3;
            rows.row(node, tree, arena)[static_cast<Metric>(metric)] += delta;
            if (delta != 0) expected[Cell::make_key(node, metric)] += delta;
        }
        IterationProfile profile;
        ASSERT_TRUE(profile.take(rows, pool));
        EXPECT_EQ(plain(profile), expected);
        EXPECT_TRUE(std::is_sorted(profile.cells, profile.cells + profile.size, [](const Cell& a, const Cell& b) { return a.key < b.key; }));
        const CondensedVector of_rows = condense(rows, tree, 0);
        const CondensedVector of_cells = condense(profile, tree, 0);
        for (std::size_t i = 0; i < catalogue_size; ++i) EXPECT_EQ(of_cells.values[i], of_rows.values[i]);
        profile.release(pool);
        rows.clear();
    }
}

TEST(IterationProfile, OfCountersThoseOfRegionsAreExactInEvents) {
    Arena arena;
    Pool pool(arena);
    CallTree tree(arena);
    ASSERT_TRUE(tree.start());
    constexpr std::size_t counters = 3;
    const NodeId region = tree.child(0, NodeKind::Region, 0, 77);
    const NodeId frame = tree.child(0, NodeKind::Unknown, 0, 78);
    Accumulator rows;
    for (std::size_t i = 0; i < counters; ++i) {
        rows.row(frame, tree, arena).counter(i) = 10 + i;
        rows.row(region, tree, arena).counter(i) = 100; // a sample hit it
        rows.row(region, tree, arena).region_counter(i, counters) = 1000 + i;
    }
    EXPECT_EQ(condense(rows, tree, 2 * counters).values[catalogue_size + counters], 1000u);
    IterationProfile profile;
    ASSERT_TRUE(profile.take(rows, pool));
    ASSERT_EQ(profile.size, 3 * counters);
    Cell events[3 * counters];
    std::uint32_t event_count = 0;
    const CondensedVector condensed = condense(profile, tree, 2 * counters, events, event_count);
    ASSERT_EQ(event_count, counters);
    for (std::size_t i = 0; i < counters; ++i) {
        EXPECT_EQ(events[i].key, Cell::make_key(region, metric_count + counters + i));
        EXPECT_EQ(events[i].value, 1000 + i);
        EXPECT_EQ(condensed.values[catalogue_size + i], 110 + i);
        EXPECT_EQ(condensed.values[catalogue_size + counters + i], 1000 + i);
    }
    for (std::size_t i = catalogue_size + 2 * counters; i < condensed_size; ++i) EXPECT_EQ(condensed.values[i], 0u);
    profile.release(pool);
}

} // namespace libprofile
