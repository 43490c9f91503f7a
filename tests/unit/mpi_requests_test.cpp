// The tables of open requests: what was inserted is found, whatever the handles and however many there are.
#include "wrappers/mpi/data_requests.hpp"
#include "wrappers/mpi/persistent_requests.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

using libprofile::Charge;
using libprofile::DataRequest;
using libprofile::Metric;
namespace requests = libprofile::data_requests;
namespace persistent = libprofile::persistent_requests;

namespace {
bool insert(std::uint64_t handle) { return requests::insert(handle, DataRequest::Receive); }
bool contains(std::uint64_t handle) { return requests::kind_of(handle) == DataRequest::Receive; }
bool remove(std::uint64_t handle) { return requests::remove(handle) == DataRequest::Receive; }
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
    requests::insert(8, DataRequest::FileRead);
    requests::insert(9, DataRequest::FileCollectiveRead);
    EXPECT_EQ(requests::kind_of(8), DataRequest::FileRead);
    EXPECT_EQ(requests::remove(9), DataRequest::FileCollectiveRead);
    EXPECT_EQ(requests::remove(9), DataRequest::None);
    EXPECT_EQ(requests::remove(8), DataRequest::FileRead);
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
