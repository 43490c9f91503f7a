#include "tests/unit/known_iterations.hpp"

#include <algorithm>
#include <fenv.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace libprofile {

namespace {

/// Four kinds of iterations with the same call path and noise of a few percent.
void feed(Recording& recording, const std::vector<int>& kinds, unsigned seed) {
    std::mt19937_64 random(seed);
    for (const int kind : kinds) {
        const auto level = static_cast<std::uint64_t>(kind + 1);
        recording.iteration(0, 10, level * 100000 + random() % 5000, level * 512, kind);
    }
}

} // namespace

TEST(Clusterer, NeverKeepsMoreThanKClusters) {
    Recording recording(8, EquivalenceChoice::Strong);
    std::mt19937_64 random(4);
    for (int i = 0; i < 1000; ++i) {
        recording.iteration(0, 5, random() % 1000000, random() % 1000, 0);
        ASSERT_LE(recording.clusterer.cluster_count(), 8u);
    }
}

TEST(Clusterer, WarmUpDelaysTheFirstMergesAndNoIterationHasManyToDo) {
    for (const bool refreshes : {false, true}) {
        Recording recording(8, EquivalenceChoice::Strong, refreshes, 200);
        std::uint32_t before = 0;
        for (std::uint32_t i = 0; i < 400; ++i) {
            recording.iteration(0, 5, 1000 + i, 10, 0);
            const std::uint32_t merged = i < 208 ? 0 : std::min(i + 1 - 8, Clusterer::most_merges * (i - 207));
            if (refreshes && i >= 208) { // all of one kind
                EXPECT_LE(recording.clusterer.cluster_count(), i + 1 - merged) << i;
                EXPECT_GE(recording.clusterer.cluster_count() + Clusterer::most_merges, before + 1) << i;
            } else {
                EXPECT_EQ(recording.clusterer.cluster_count(), i + 1 - merged) << i;
            }
            before = recording.clusterer.cluster_count();
        }
        EXPECT_EQ(recording.cluster_sums(), recording.plain);
    }
}

TEST(Clusterer, WarmUpIsCutShortWhenMemoryIs) {
    const std::uint64_t quota = memory_quota.limit();
    Recording recording(64, EquivalenceChoice::Strong, true, 4000); // their distances alone would need 66 MB
    memory_quota.limit(memory_quota.used() + (8 << 20));
    for (std::uint32_t i = 0; i < 6000; ++i) recording.iteration(0, 5, 1000 + i % 100, 10, 0);
    EXPECT_LE(recording.clusterer.cluster_count(), 64u);
    EXPECT_EQ(recording.clusterer.unclustered(), 0u);
    EXPECT_EQ(recording.cluster_sums(), recording.plain);
    memory_quota.limit(quota);
}

TEST(Clusterer, SumsAreExactAtEveryK) {
    for (const std::uint32_t k : {1u, 2u, 3u, 7u, 64u, 500u}) {
        Recording recording(k, EquivalenceChoice::Auto);
        std::mt19937_64 random(5);
        for (int i = 0; i < 300; ++i) recording.iteration(random() % 8, 1 + random() % 4, random(), random() >> 20, 0);
        EXPECT_EQ(recording.cluster_sums(), recording.plain) << "K=" << k;
    }
}

TEST(Clusterer, MembersAndAssignmentsAgree) {
    Recording recording(5, EquivalenceChoice::Weak);
    std::mt19937_64 random(6);
    for (int i = 0; i < 400; ++i) recording.iteration(random() % 2, 1, random() % 100000, 10, 0);
    std::map<std::uint32_t, std::uint32_t> counted;
    for (std::uint32_t i = 0; i < 400; ++i) ++counted[recording.clusterer.cluster_of(i)];
    ASSERT_EQ(counted.size(), recording.clusterer.cluster_count());
    for (std::uint32_t c = 0; c < recording.clusterer.cluster_count(); ++c) EXPECT_EQ(counted[c], recording.clusterer.cluster(c).members);
}

TEST(Clusterer, SeparatesKindsInAnyOrderAtTwiceTheKinds) {
    std::vector<int> kinds;
    for (int i = 0; i < 400; ++i) kinds.push_back(i % 4);
    std::mt19937_64 random(7);
    for (unsigned permutation = 0; permutation < 20; ++permutation) {
        Recording recording(8, EquivalenceChoice::Strong);
        feed(recording, kinds, permutation);
        EXPECT_GE(recording.purity(), 0.95) << "permutation " << permutation;
        std::shuffle(kinds.begin(), kinds.end(), random);
    }
}

TEST(Clusterer, SeparatesKindsThatRiseOrFall) {
    for (const bool falling : {false, true}) {
        std::vector<int> kinds;
        for (int i = 0; i < 400; ++i) kinds.push_back(falling ? 3 - i / 100 : i / 100);
        Recording recording(8, EquivalenceChoice::Strong);
        feed(recording, kinds, 8);
        EXPECT_GE(recording.purity(), 0.95) << (falling ? "falling" : "rising");
    }
}

TEST(Clusterer, TheDistanceIsSymmetricInTheSignOfDifferences) {
    // Alternation of a small and a large kind: an unsigned subtraction would move one of the two far from itself.
    Recording recording(2, EquivalenceChoice::None);
    for (int i = 0; i < 100; ++i) recording.iteration(0, 1, i % 2 == 0 ? 1000 : 999, i % 2 == 0 ? 10 : 5000, i % 2);
    EXPECT_EQ(recording.purity(), 1.0);
}

TEST(Clusterer, StrongEquivalenceNeverMixesVisitCounts) {
    Recording recording(4, EquivalenceChoice::Strong);
    for (int i = 0; i < 60; ++i) recording.iteration(0, static_cast<std::uint64_t>(1 + i % 3), 1000, 8, i % 3);
    EXPECT_EQ(recording.clusterer.class_count(), 3u);
    EXPECT_EQ(recording.purity(), 1.0);
    EXPECT_LE(recording.clusterer.cluster_count(), 4u);
}

TEST(Clusterer, WeakEquivalenceNeverMixesCallPaths) {
    Recording recording(4, EquivalenceChoice::Weak);
    std::mt19937_64 random(9);
    for (int i = 0; i < 90; ++i) recording.iteration(i % 3, 1 + random() % 5, 1000, 8, i % 3);
    EXPECT_EQ(recording.clusterer.class_count(), 3u);
    EXPECT_EQ(recording.purity(), 1.0);
}

TEST(Clusterer, MoreClassesThanClustersRaiseTheNumberOfClusters) {
    Recording recording(2, EquivalenceChoice::Strong);
    for (int i = 0; i < 100; ++i) recording.iteration(static_cast<std::size_t>(i % 5), 1, 1000, 8, i % 5);
    EXPECT_EQ(recording.clusterer.cluster_count(), 5u);
    EXPECT_EQ(recording.purity(), 1.0);
    EXPECT_EQ(recording.cluster_sums(), recording.plain);
}

TEST(Clusterer, AutoRelaxesToWeakWhenThereAreTooManyStrongClasses) {
    Recording recording(8, EquivalenceChoice::Auto);
    for (int i = 0; i < 200; ++i) recording.iteration(static_cast<std::size_t>(i % 2), 1 + i % 50, 1000, 8, i % 2);
    EXPECT_EQ(recording.clusterer.equivalence(), Equivalence::Weak);
    EXPECT_EQ(recording.clusterer.relaxations(), 1u);
    EXPECT_EQ(recording.clusterer.class_count(), 2u);
    EXPECT_LE(recording.clusterer.cluster_count(), 8u);
    EXPECT_EQ(recording.purity(), 1.0);
    EXPECT_EQ(recording.cluster_sums(), recording.plain);
}

TEST(Clusterer, AutoGivesUpEquivalenceOnlyWhenWeakClassesOutnumberK) {
    Recording recording(3, EquivalenceChoice::Auto);
    for (int i = 0; i < 200; ++i) recording.iteration(static_cast<std::size_t>(i % 7), 1, 1000, 8, i % 7);
    EXPECT_EQ(recording.clusterer.equivalence(), Equivalence::None);
    EXPECT_LE(recording.clusterer.cluster_count(), 3u);
    EXPECT_EQ(recording.cluster_sums(), recording.plain);
}

TEST(Clusterer, FewOutliersDoNotEatTheClusters) {
    // A baseline of two close kinds, and every 40th iteration an extreme of its own size.
    Recording recording(8, EquivalenceChoice::Strong);
    std::mt19937_64 random(10);
    for (int i = 0; i < 800; ++i) {
        if (i % 40 == 39)
            recording.iteration(0, 10, 2000000 + random() % 20000000, 100, 2);
        else
            recording.iteration(0, 10, (i % 2 == 0 ? 100000 : 130000) + random() % 2000, 100, i % 2);
    }
    EXPECT_GE(recording.purity(), 0.95);
}

TEST(Clusterer, TakesAsManyClustersAsThereAreKinds) {
    std::mt19937_64 random(12);
    const auto noisy = [&](double ns, double share) {
        return static_cast<std::uint64_t>(ns * std::max(0.2, 1 + share * std::normal_distribution<>()(random)));
    };
    for (const double noise : {0.0, 0.01, 0.05}) {
        Recording alike(16, EquivalenceChoice::Strong, true); // one kind
        for (int i = 0; i < 1000; ++i) alike.iteration(0, 10, noisy(1e6, noise), 100, 0);
        EXPECT_LE(alike.clusterer.cluster_count(), 3u) << noise;

        Recording two(16, EquivalenceChoice::Strong, true); // every 50th writes
        for (int i = 0; i < 1000; ++i) two.iteration(0, 10, noisy(i % 50 == 49 ? 4e6 : 1e6, noise), 100, i % 50 == 49);
        EXPECT_LE(two.clusterer.cluster_count(), 5u) << noise;
        EXPECT_GE(two.clusterer.cluster_count(), 2u) << noise;
        EXPECT_EQ(two.purity(), 1.0) << noise;
    }
    Recording late(16, EquivalenceChoice::Strong, true); // a sixth longer from the middle on
    for (int i = 0; i < 1000; ++i) late.iteration(0, 10, noisy(i < 500 ? 1e6 : 1.16e6, 0.01), 100, i >= 500);
    EXPECT_LE(late.clusterer.cluster_count(), 5u);
    EXPECT_GE(late.purity(), 0.99);

    Recording drifting(16, EquivalenceChoice::Strong, true); // ten times as long in the end
    for (int i = 0; i < 1000; ++i) drifting.iteration(0, 10, noisy(1e6 * (1 + 0.009 * i), 0.02), 100, i / 100);
    EXPECT_GE(drifting.clusterer.cluster_count(), 2u); // it waits at the end
    EXPECT_LE(drifting.clusterer.cluster_count(), 16u);
    for (std::uint32_t c = 0; c < drifting.clusterer.cluster_count(); ++c)
        EXPECT_LE(drifting.clusterer.cluster(c).kind.longest, 4 * drifting.clusterer.cluster(c).kind.shortest);
    EXPECT_EQ(drifting.cluster_sums(), drifting.plain);
}

TEST(Clusterer, WhenDistancesAreComputedMakesNoDifference) {
    for (const EquivalenceChoice mode : {EquivalenceChoice::Strong, EquivalenceChoice::Auto}) {
        Recording seldom(12, mode, true), often(12, mode, true);
        std::mt19937_64 random(13);
        int quiet = 0, busy = 0; // iterations after which distances were put off, and in which there were as many clusters as permitted
        bool is_put_off = false;
        for (std::uint64_t i = 0; i < 4600; ++i) {
            // Five kinds that drift; now and then up to twenty for a while, and other visits; a long one in the end.
            const std::uint64_t kinds = i >= 4000 ? 1 : i / 400 % 3 == 1 ? 20 : 5, kind = random() % kinds;
            const std::uint64_t ns = (i >= 4000 ? 50000000 : 1000000) * (kind + 1) + 100 * i + random() % 20000;
            const std::uint64_t visits = i % 1700 > 1600 ? 1 + random() % 4 : 10;
            for (Recording* recording : {&seldom, &often}) recording->iteration(0, visits, ns, 64 * kind, static_cast<int>(kind));
            const Clusterer& clusterer = seldom.clusterer;
            is_put_off = false;
            for (std::uint32_t c = 0; c < clusterer.cluster_count(); ++c) is_put_off = is_put_off || clusterer.cluster(c).put_off != 0;
            quiet += is_put_off ? 1 : 0;
            busy += clusterer.cluster_count() == 12 ? 1 : 0;
            often.clusterer.catch_up();
            ASSERT_EQ(clusterer.cluster_count(), often.clusterer.cluster_count()) << i;
        }
        EXPECT_GT(quiet, 1000);
        EXPECT_GT(busy, 400);
        for (std::uint32_t i = 0; i < 4600; ++i) ASSERT_EQ(seldom.clusterer.cluster_of(i), often.clusterer.cluster_of(i)) << i;
        ASSERT_TRUE(is_put_off); // in the end, so all distances are compared
        seldom.clusterer.catch_up();
        for (std::uint32_t c = 0; c < seldom.clusterer.cluster_count(); ++c) {
            const Cluster &one = seldom.clusterer.cluster(c), &other = often.clusterer.cluster(c);
            EXPECT_EQ(one.members, other.members);
            EXPECT_EQ(one.weight, other.weight);
            EXPECT_TRUE(one.nearest_is_known && other.nearest_is_known);
            EXPECT_EQ(one.nearest_distance, other.nearest_distance);
        }
    }
}

TEST(Clusterer, LeavesTheFloatingPointStatusAlone) {
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT);
    Recording recording(2, EquivalenceChoice::None);
    // Traps on: a raised exception kills the test.
    for (int i = 0; i < 50; ++i) recording.iteration(0, 1, static_cast<std::uint64_t>(i * 1001 + 7), 3, 0);
    const int raised = fetestexcept(FE_ALL_EXCEPT);
    fedisableexcept(FE_ALL_EXCEPT);
    EXPECT_EQ(raised, 0);
}

TEST(Clusterer, CountersTellKindsApartAndTheSameInRegionsDoesNot) {
    for (const bool in_regions : {false, true}) {
        Arena arena;
        Pool pool(arena);
        Clusterer clusterer(arena, pool, 2, EquivalenceChoice::Strong, false, 0, 2);
        for (std::uint32_t i = 0; i < 64; ++i) {
            IterationProfile profile;
            CondensedVector condensed;
            // Two kinds that differ in a counter. Noise of another period makes two others, which remain when the counter does not count.
            condensed.values[catalogue_size + (in_regions ? 1 : 0)] = i % 2 == 0 ? 1 : 1000;
            condensed.values[static_cast<std::size_t>(CatalogueId::Total)] = i % 4 < 2 ? 1000 : 1100;
            ASSERT_TRUE(clusterer.add(profile, condensed, StructureSignatures{}));
        }
        ASSERT_EQ(clusterer.cluster_count(), 2u);
        EXPECT_EQ(clusterer.cluster_of(60) == clusterer.cluster_of(62), !in_regions);
        EXPECT_EQ(clusterer.cluster_of(60) == clusterer.cluster_of(61), in_regions);
        const std::uint64_t sum = clusterer.cluster(0).condensed[catalogue_size + in_regions] + clusterer.cluster(1).condensed[catalogue_size + in_regions];
        EXPECT_EQ(sum, 32u * 1001);
    }
}

} // namespace libprofile
