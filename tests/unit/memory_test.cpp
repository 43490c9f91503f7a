#include "libprofile/base/memory.hpp"
#include "libprofile/base/scratch.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace libprofile {

namespace {

/// Restricts the process quota for one test.
class QuotaTest : public testing::Test {
  protected:
    void restrict_to(std::uint64_t more) { memory_quota.limit(memory_quota.used() + more); }
    void TearDown() override { memory_quota.limit(256ull << 20); }
};

} // namespace

TEST(Arena, GivesZeroedAlignedMemory) {
    Arena arena;
    for (std::size_t size : {1u, 15u, 16u, 1000u, 100000u, 300000u}) {
        auto* bytes = static_cast<unsigned char*>(arena.allocate(size));
        ASSERT_NE(bytes, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 16, 0u);
        for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(bytes[i], 0);
        std::memset(bytes, 0xff, size);
    }
}

TEST_F(QuotaTest, ArenaStopsAtTheQuota) {
    restrict_to(1 << 20);
    Arena arena;
    std::size_t got = 0;
    while (arena.allocate(1000) != nullptr) ++got;
    EXPECT_GT(got, 900u);
    EXPECT_LT(got, 1100u);
    EXPECT_LE(memory_quota.used(), memory_quota.limit());
}

TEST_F(QuotaTest, ScratchIsZeroedAndGivenBack) {
    const std::uint64_t before = memory_quota.used();
    {
        Scratch<std::uint64_t> first(1000), later;
        EXPECT_FALSE(later.is_there());
        ASSERT_TRUE(first.is_there());
        for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(first[i], 0u);
        first[999] = 1;
        EXPECT_EQ(memory_quota.used(), before + 8000);
        ASSERT_TRUE(later.make(10));
        ASSERT_TRUE(first.make(2000)); // replaces what it had
        EXPECT_EQ(first[999], 0u);
        EXPECT_EQ(memory_quota.used(), before + 16080);
        first.release();
        EXPECT_FALSE(first.is_there());
        EXPECT_EQ(memory_quota.used(), before + 80);
    }
    EXPECT_EQ(memory_quota.used(), before);
}

TEST_F(QuotaTest, ScratchBeyondTheQuotaIsNotThereAndTakesNothing) {
    restrict_to(10000);
    const std::uint64_t before = memory_quota.used();
    Scratch<char> fits(9000);
    EXPECT_TRUE(fits.is_there());
    Scratch<char> does_not(2000);
    EXPECT_FALSE(does_not.is_there());
    EXPECT_EQ(memory_quota.used(), before + 9000);
    EXPECT_FALSE(fits.make(20000)); // and its old contents are gone
    EXPECT_FALSE(fits.is_there());
    EXPECT_EQ(memory_quota.used(), before);
}

TEST(Pool, RecyclesWhatWasReleased) {
    Arena arena;
    Pool pool(arena);
    void* first = pool.allocate(1000);
    pool.release(first, 1000);
    EXPECT_EQ(pool.allocate(900), first);
}

TEST(StableArray, ElementsNeverMove) {
    Arena arena;
    StableArray<std::uint64_t, 4> array;
    std::vector<std::uint64_t*> appended;
    for (std::uint64_t i = 0; i < 10000; ++i) {
        appended.push_back(array.append(arena));
        ASSERT_NE(appended.back(), nullptr);
        *appended.back() = i;
    }
    for (std::uint64_t i = 0; i < array.size(); ++i) {
        EXPECT_EQ(&array[i], appended[i]);
        EXPECT_EQ(array[i], i);
    }
}

} // namespace libprofile
