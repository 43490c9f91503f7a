#include "libprofile/callpath/recipe_table.hpp"

#include "libprofile/base/memory.hpp"
#include "libprofile/callpath/code_frame.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/unwind_info.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <pthread.h>
#include <random>
#include <set>
#include <thread>
#include <unwind.h>
#include <vector>

namespace libprofile {

namespace {

Recipe expected(std::uintptr_t address) {
    Recipe recipe = read_unwind_info(address);
    recipe.flags = static_cast<std::uint8_t>(recipe.flags | recipe_flags_of_module(address));
    const bool is_code = recipe.kind != RecipeKind::Missing && recipe.kind != RecipeKind::Signal;
    if (is_code && !follows_call(address + 1)) recipe.flags |= NoReturnAddress;
    return recipe;
}

/// Addresses inside libc and libstdc++, some of them outside of any function.
std::vector<std::uintptr_t> some_addresses(std::size_t count) {
    std::mt19937_64 random(1);
    std::vector<std::uintptr_t> result;
    for (std::size_t i = 0; i < count; ++i)
        result.push_back((i % 2 == 0 ? reinterpret_cast<std::uintptr_t>(&::ldiv) : reinterpret_cast<std::uintptr_t>(&std::terminate)) + random() % 0x40000);
    return result;
}

class RecipeTableTest : public testing::Test {
  protected:
    void SetUp() override { load_map.refresh(); }
    void TearDown() override { memory_quota.limit(256ull << 20); }
    RecipeTable table_; // its memory is never returned, like that of the process's table
};

} // namespace

TEST(Recipe, PacksAndUnpacks) {
    for (const auto kind : {RecipeKind::Stack, RecipeKind::FrameIndirect, RecipeKind::Missing})
        for (const auto rule : {FramePointerRule::Same, FramePointerRule::AtCfa, FramePointerRule::AtFrame})
            for (const std::int32_t cfa : {0, 8, -8, 16, 4096, -4096, Recipe::largest_cfa_offset, -Recipe::largest_cfa_offset})
                for (const std::int32_t frame : {0, 8, -8, -16, Recipe::largest_frame_offset, -Recipe::largest_frame_offset})
                    for (const std::uint8_t flags : {0, 1, 0x2a, 0x55, 0xff}) {
                        const Recipe recipe{kind, rule, flags, cfa, frame};
                        EXPECT_TRUE(recipe.fits());
                        const std::uint64_t word = recipe.pack(65000);
                        EXPECT_TRUE(Recipe::is_of_epoch(word, 65000));
                        EXPECT_FALSE(Recipe::is_of_epoch(word, 65001));
                        const Recipe again = Recipe::unpack(word);
                        EXPECT_EQ(again.kind, kind);
                        EXPECT_EQ(again.frame_rule, rule);
                        EXPECT_EQ(again.flags, flags);
                        EXPECT_EQ(again.cfa_offset, cfa);
                        EXPECT_EQ(again.frame_offset, frame);
                    }
}

TEST(Recipe, KnowsWhatDoesNotFit) {
    const auto make = [](std::int32_t cfa, std::int32_t frame) { return Recipe{RecipeKind::Stack, FramePointerRule::AtCfa, 0, cfa, frame}; };
    EXPECT_FALSE(make(12, 0).fits());
    EXPECT_FALSE(make(8, -4).fits());
    EXPECT_FALSE(make(Recipe::largest_cfa_offset + 8, 0).fits());
    EXPECT_FALSE(make(-Recipe::largest_cfa_offset - 8, 0).fits());
    EXPECT_FALSE(make(8, Recipe::largest_frame_offset + 8).fits());
    EXPECT_FALSE(make(8, -Recipe::largest_frame_offset - 8).fits());
}

TEST_F(RecipeTableTest, BelievesNothingWhileALibraryIsBeingUnloaded) {
    const auto address = reinterpret_cast<std::uintptr_t>(&::ldiv) + 8, other = address + 1;
    const std::uint32_t before = load_epoch();
    table_.learn(address, before);
    EXPECT_NE(table_.find_word(address, before), 0u);
    begin_unloading();
    begin_unloading();
    for (int i = 0; i < 2; ++i) {
        const std::uint32_t during = load_epoch();
        EXPECT_FALSE(is_settled(during));
        EXPECT_EQ(epoch_to_keep(during), 0u);
        EXPECT_EQ(table_.find_word(address, during), 0u);
        EXPECT_EQ(table_.find(other, during).kind, expected(other).kind);
        EXPECT_EQ(table_.find_word(other, during), 0u) << "not kept";
        end_unloading();
    }
    EXPECT_EQ(load_epoch(), before) << "nothing was unloaded";
    EXPECT_NE(table_.find_word(address, before), 0u);
    begin_unloading();
    next_load_epoch();
    end_unloading();
    EXPECT_TRUE(is_settled(load_epoch()));
    EXPECT_NE(load_epoch(), before);
    EXPECT_EQ(table_.find_word(address, load_epoch()), 0u);
}

TEST(LoadEpoch, CountsBeyondTheBitsThatRecipesHaveOfIt) {
    const std::uint32_t begin = load_epoch();
    std::set<std::uint32_t> numbers;
    for (unsigned i = 0; i < 200000; ++i) {
        next_load_epoch();
        EXPECT_TRUE(is_settled(load_epoch()) && load_epoch() != 0);
        numbers.insert(load_epoch());
    }
    EXPECT_EQ(numbers.size(), 200000u);
    EXPECT_EQ(numbers.count(begin), 0u);
}

TEST(LoadEpoch, MoreThreadsThanItCountsLeaveItUnsettled) {
    const std::uint32_t before = load_epoch();
    for (unsigned i = 0; i < 254; ++i) begin_unloading();
    for (unsigned i = 0; i < 254; ++i) end_unloading();
    EXPECT_EQ(load_epoch(), before);
    for (unsigned i = 0; i < 300; ++i) begin_unloading();
    for (unsigned i = 0; i < 300; ++i) end_unloading();
    EXPECT_FALSE(is_settled(load_epoch()));
    process_state.load_map_epoch.store(before, std::memory_order_relaxed); // for other tests
}

TEST_F(RecipeTableTest, LearnsOnceAndRemembers) {
    const auto address = reinterpret_cast<std::uintptr_t>(&::ldiv) + 8;
    EXPECT_EQ(table_.find_word(address, 1), 0u);
    const Recipe first = table_.find(address, 1);
    EXPECT_EQ(first.pack(1), expected(address).pack(1));
    EXPECT_NE(first.flags & InLibc, 0);
    EXPECT_EQ(table_.find_word(address, 1), first.pack(1));
    EXPECT_EQ(table_.find(address, 1).pack(1), first.pack(1));
    EXPECT_EQ(table_.learned(), 1u);
    EXPECT_EQ(table_.find(0, 1).kind, RecipeKind::Missing);
    EXPECT_EQ(table_.find(0, 1).kind, RecipeKind::Missing);
}

TEST_F(RecipeTableTest, AnotherEpochIsLearnedAgainInPlace) {
    const auto address = reinterpret_cast<std::uintptr_t>(&::ldiv) + 8;
    constexpr std::uint32_t next = 0x1000000; // after 0xffff: next_load_epoch()
    table_.find(address, 0xffff);
    EXPECT_EQ(table_.find_word(address, next), 0u);
    table_.find(address, next);
    EXPECT_NE(table_.find_word(address, next), 0u);
    EXPECT_EQ(table_.find_word(address, 0xffff), 0u);
    EXPECT_EQ(table_.learned(), 2u);
}

TEST_F(RecipeTableTest, FlagsTellTheModule) {
    EXPECT_EQ(recipe_flags_of_module(reinterpret_cast<std::uintptr_t>(&::ldiv)), InLibc);
    EXPECT_EQ(recipe_flags_of_module(reinterpret_cast<std::uintptr_t>(&_Unwind_GetIP)), InUnwinder);
    EXPECT_EQ(recipe_flags_of_module(reinterpret_cast<std::uintptr_t>(&std::terminate)), 0);
    EXPECT_EQ(recipe_flags_of_module(reinterpret_cast<std::uintptr_t>(&expected)), 0);
    EXPECT_EQ(recipe_flags_of_module(8), 0);
}

TEST_F(RecipeTableTest, GrowsAndStaysRight) {
    const std::vector<std::uintptr_t> addresses = some_addresses(60000);
    for (const std::uintptr_t address : addresses) table_.find(address, 1);
    EXPECT_GE(table_.capacity(), 65536u);
    // What was in smaller tables is learned again when asked for.
    for (const std::uintptr_t address : addresses) table_.find(address, 1);
    const std::uint64_t learned = table_.learned();
    for (const std::uintptr_t address : addresses) ASSERT_EQ(table_.find(address, 1).pack(1), expected(address).pack(1));
    EXPECT_LT(table_.learned() - learned, addresses.size() / 100);
}

TEST_F(RecipeTableTest, ManyThreadsAgree) {
    const std::vector<std::uintptr_t> addresses = some_addresses(20000);
    std::vector<std::uint64_t> right;
    for (const std::uintptr_t address : addresses) right.push_back(expected(address).pack(0));
    std::atomic<std::size_t> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            std::mt19937_64 random(t);
            // Epochs change meanwhile, and not at the same time in all threads.
            for (std::size_t i = 0; i < 2 * addresses.size(); ++i) {
                const std::size_t k = random() % addresses.size();
                const auto epoch = static_cast<std::uint32_t>(i / 10000);
                if (table_.find(addresses[k], epoch).pack(0) != right[k]) ++wrong;
                const std::uint64_t word = table_.find_word(addresses[k], epoch);
                if (word != 0 && word != Recipe::unpack(right[k]).pack(epoch)) ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0u);
}

namespace {
RecipeTable* interrupted_table = nullptr;
const std::vector<std::uintptr_t>* interrupted_addresses = nullptr;
volatile std::size_t interruptions = 0;

void look_up_in_handler(int) {
    for (int i = 0; i < 50; ++i) interrupted_table->find((*interrupted_addresses)[(interruptions * 50 + static_cast<std::size_t>(i)) % 60000], 1);
    interruptions = interruptions + 1;
}
} // namespace

TEST_F(RecipeTableTest, WorksInHandlersThatInterruptIt) {
    const std::vector<std::uintptr_t> addresses = some_addresses(60000);
    interrupted_table = &table_;
    interrupted_addresses = &addresses;
    signal(SIGUSR1, look_up_in_handler);
    std::atomic<bool> done{false};
    const pthread_t self = pthread_self();
    std::thread interrupter([&] {
        while (!done) {
            pthread_kill(self, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
    });
    for (int round = 0; round < 20 || interruptions < 100; ++round)
        for (std::size_t i = addresses.size(); i-- > 0;) table_.find(addresses[i], 1);
    done = true;
    interrupter.join();
    signal(SIGUSR1, SIG_DFL);
    for (const std::uintptr_t address : addresses) ASSERT_EQ(table_.find(address, 1).pack(1), expected(address).pack(1));
}

TEST_F(RecipeTableTest, ComputesEachTimeWithoutMemory) {
    const std::vector<std::uintptr_t> addresses = some_addresses(100);
    memory_quota.limit(memory_quota.used());
    for (int round = 0; round < 2; ++round)
        for (const std::uintptr_t address : addresses) ASSERT_EQ(table_.find(address, 1).pack(1), expected(address).pack(1));
    EXPECT_EQ(table_.capacity(), 0u);
    EXPECT_EQ(table_.learned(), 200u);
    EXPECT_EQ(memory_quota.used(), memory_quota.limit());
}

TEST_F(RecipeTableTest, FillsTheLastTableWhenMemoryRunsOut) {
    memory_quota.limit(memory_quota.used() + (128 << 10)); // the first table only
    const std::vector<std::uintptr_t> addresses = some_addresses(20000);
    for (int round = 0; round < 2; ++round)
        for (const std::uintptr_t address : addresses) ASSERT_EQ(table_.find(address, 1).pack(1), expected(address).pack(1));
    EXPECT_EQ(table_.capacity(), 4096u);
    std::size_t kept = 0;
    for (const std::uintptr_t address : addresses) kept += table_.find_word(address, 1) != 0;
    EXPECT_GT(kept, 4000u);
}

} // namespace libprofile
