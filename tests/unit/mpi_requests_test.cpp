// The tables of open requests: what was inserted is found, whatever the handles and however many there are.
#include "libprofile/base/memory.hpp"
#include "wrappers/mpi/data_requests.hpp"
#include "wrappers/mpi/persistent_requests.hpp"
#include "wrappers/mpi/rank_groups.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>
#include <vector>

using libprofile::Charge;
using libprofile::DataRequest;
using libprofile::memory_quota;
using libprofile::Metric;
namespace requests = libprofile::data_requests;
namespace persistent = libprofile::persistent_requests;

namespace {
bool insert(std::uint64_t handle) { return requests::insert(handle, {DataRequest::Receive, 5}); }
bool contains(std::uint64_t handle) { return requests::find(handle).kind == DataRequest::Receive && requests::find(handle).group == 5; }
bool remove(std::uint64_t handle) { return requests::remove(handle).kind == DataRequest::Receive; }
} // namespace

TEST(DataRequests, FindsWhatWasInsertedUntilItIsRemoved) {
    EXPECT_FALSE(contains(0x98000000));
    EXPECT_TRUE(insert(0x98000000));
    EXPECT_TRUE(contains(0x98000000));
    EXPECT_FALSE(contains(0x98000001));
    EXPECT_TRUE(remove(0x98000000));
    EXPECT_FALSE(contains(0x98000000));
    EXPECT_FALSE(remove(0x98000000));
}

// Between MPI's completion of a request and its removal another thread may get the same handle for a new receive.
TEST(DataRequests, CountsAHandleAsOftenAsItWasInserted) {
    insert(7);
    insert(7);
    EXPECT_TRUE(remove(7));
    EXPECT_TRUE(remove(7));
    EXPECT_FALSE(remove(7));
}

TEST(DataRequests, HoldsManyMoreThanItsFirstLevel) {
    constexpr std::uint64_t count = 300000;
    for (std::uint64_t i = 1; i <= count; ++i) ASSERT_TRUE(insert(i * 192)); // as addresses of requests are
    for (std::uint64_t i = 1; i <= count; ++i) ASSERT_TRUE(contains(i * 192));
    EXPECT_FALSE(contains(191));
    for (std::uint64_t i = 1; i <= count; ++i) ASSERT_TRUE(remove(i * 192));
    for (std::uint64_t i = 1; i <= count; ++i) ASSERT_FALSE(contains(i * 192));
}

TEST(DataRequests, ThreadsDoNotLoseEachOthersHandles) {
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread)
        threads.emplace_back([thread] {
            for (std::uint64_t round = 0; round < 200; ++round) {
                for (std::uint64_t i = 1; i <= 200; ++i) EXPECT_TRUE(insert((i * 4 + thread) << 6));
                for (std::uint64_t i = 1; i <= 200; ++i) EXPECT_TRUE(remove((i * 4 + thread) << 6));
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (std::uint64_t i = 4; i <= 804; ++i) EXPECT_FALSE(contains(i << 6));
}

TEST(DataRequests, KnowTheirKind) {
    requests::insert(8, {DataRequest::FileRead});
    requests::insert(9, {DataRequest::FileCollectiveRead});
    EXPECT_EQ(requests::find(8).kind, DataRequest::FileRead);
    EXPECT_EQ(requests::remove(9).kind, DataRequest::FileCollectiveRead);
    EXPECT_EQ(requests::remove(9).kind, DataRequest::None);
    EXPECT_EQ(requests::remove(8).kind, DataRequest::FileRead);
}

TEST(PersistentRequests, KeepWhatEachStartCountsUntilTheyAreFreed) {
    constexpr std::uint64_t count = 5000;
    for (std::uint64_t i = 1; i <= count; ++i) {
        Charge charge;
        charge.add(Metric::P2pSends, 1);
        charge.add(Metric::P2pBytesSent, i);
        ASSERT_TRUE(persistent::insert(i * 64, charge));
    }
    EXPECT_EQ(persistent::find(63), nullptr);
    for (std::uint64_t i = 1; i <= count; ++i) {
        const Charge* charge = persistent::find(i * 64);
        ASSERT_NE(charge, nullptr);
        ASSERT_EQ(charge->size, 2);
        ASSERT_EQ(charge->values[1], i);
        persistent::remove(i * 64);
        ASSERT_EQ(persistent::find(i * 64), nullptr);
    }
}

TEST(RankGroups, CommunicatorsOfTheSameRanksShareAGroup) {
    namespace groups = libprofile::rank_groups;
    const int some[] = {3, 1, -1}, others[] = {3, 2, -1};
    const std::uint32_t group = groups::group_of(some, 3, false);
    EXPECT_GE(group, groups::first_other);
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(groups::group_of(some, 3, false), group);
    EXPECT_NE(groups::group_of(others, 3, false), group);
    EXPECT_NE(groups::group_of(some, 3, true), group);
    EXPECT_NE(groups::group_of(some, 2, false), group);
    EXPECT_EQ(groups::world_rank(group, 0), 3u);
    EXPECT_EQ(groups::world_rank(group, 1), 1u);
    for (const int rank : {2, 3, -2}) EXPECT_EQ(groups::world_rank(group, rank), groups::no_rank);
    EXPECT_EQ(groups::world_rank(groups::of_world, 12), 12u);
    EXPECT_EQ(groups::world_rank(groups::without_ranks, 12), groups::no_rank);
}

TEST(RankGroups, AHandleIsAskedAgainAfterItsCommunicatorIsFreed) {
    namespace groups = libprofile::rank_groups;
    groups::insert(0x7ffff1234560, 5);
    groups::insert(0x7ffff1234560, 5); // two threads asked
    EXPECT_EQ(groups::find(0x7ffff1234560), 5u);
    groups::forget(0x7ffff1234560);
    EXPECT_EQ(groups::find(0x7ffff1234560), groups::not_asked);
    groups::insert(0x7ffff1234560, 6);
    EXPECT_EQ(groups::find(0x7ffff1234560), 6u);
}

TEST(RankGroups, ACommunicatorIsNotAskedAboutOnceItIsBeingFreed) {
    namespace groups = libprofile::rank_groups;
    constexpr std::uint64_t freed = 0x7ffff1234560, other = 0x7ffff1234980;
    const std::uint32_t before = groups::frees(freed), of_other = groups::frees(other);
    EXPECT_TRUE(groups::Asking(freed, before).is_allowed());
    groups::forget(freed);
    EXPECT_FALSE(groups::Asking(freed, before).is_allowed());
    EXPECT_TRUE(groups::Asking(other, of_other).is_allowed());
    std::atomic<bool> is_forgotten{false};
    std::thread frees;
    {
        const groups::Asking asking(freed, groups::frees(freed));
        EXPECT_TRUE(asking.is_allowed());
        frees = std::thread([&] {
            groups::forget(freed);
            is_forgotten = true;
        });
        while (groups::Asking(freed, before + 1).is_allowed()) std::this_thread::yield(); // until it has begun
        EXPECT_FALSE(is_forgotten) << "the one that frees did not wait";
    }
    frees.join();
}

TEST(RankGroups, AHandlerOfTheProgramCannotJumpOutOfAsking) {
    namespace groups = libprofile::rank_groups;
    static volatile std::sig_atomic_t handled;
    handled = 0;
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) { handled = 1; };
    sigaction(SIGUSR1, &action, &before);
    {
        const groups::Asking asking(0x7ffff1234560, groups::frees(0x7ffff1234560));
        raise(SIGUSR1);
        EXPECT_EQ(handled, 0);
    }
    EXPECT_EQ(handled, 1) << "the signal is only late";
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(RankGroups, AThreadThatNeverEndsAskingIsNotWaitedForWithoutEnd) {
    namespace groups = libprofile::rank_groups;
    const groups::Asking asking(0x7ffff1234560, groups::frees(0x7ffff1234560));
    const auto begin = std::chrono::steady_clock::now();
    groups::forget(0x7ffff1234560);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
}

TEST(RankGroups, RanksThatAreNotKnownForWantOfMemoryAreMissed) {
    namespace groups = libprofile::rank_groups;
    const int some[] = {-9, 1};
    const std::uint64_t limit = memory_quota.limit();
    memory_quota.limit(0);
    EXPECT_EQ(groups::group_of(some, 2, false), groups::missed);
    memory_quota.limit(limit);
    const std::uint32_t group = groups::group_of(some, 2, false);
    EXPECT_GE(group, groups::first_other);
    EXPECT_NE(groups::communicator(group), groups::no_communicator);
    EXPECT_EQ(groups::communicator(groups::missed), groups::no_communicator);
    EXPECT_EQ(groups::world_rank(groups::missed, 0), groups::no_rank);
}

TEST(RankGroups, WithoutRoomPartnersAreUnknown) {
    namespace groups = libprofile::rank_groups;
    for (int i = 0; i < static_cast<int>(groups::most_groups) + 10; ++i) {
        const int ranks[] = {i, i + 1};
        const std::uint32_t group = groups::group_of(ranks, 2, false);
        EXPECT_EQ(groups::world_rank(group, 1), group == groups::without_ranks ? groups::no_rank : static_cast<std::uint32_t>(i + 1));
    }
    const int last[] = {-7, 1};
    EXPECT_EQ(groups::group_of(last, 2, false), groups::without_ranks);
}
