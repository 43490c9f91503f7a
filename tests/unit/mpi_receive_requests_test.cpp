// The set of open receive requests: what was inserted is found once, whatever the handles and however many there are.
#include "wrappers/mpi/receive_requests.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace requests = libprofile::receive_requests;

TEST(ReceiveRequests, FindsWhatWasInsertedUntilItIsRemoved) {
    EXPECT_FALSE(requests::contains(0x98000000));
    EXPECT_TRUE(requests::insert(0x98000000));
    EXPECT_TRUE(requests::contains(0x98000000));
    EXPECT_FALSE(requests::contains(0x98000001));
    EXPECT_TRUE(requests::remove(0x98000000));
    EXPECT_FALSE(requests::contains(0x98000000));
    EXPECT_FALSE(requests::remove(0x98000000));
}

// Between MPI's completion of a request and its removal another thread may get the same handle for a new receive.
TEST(ReceiveRequests, CountsAHandleAsOftenAsItWasInserted) {
    requests::insert(7);
    requests::insert(7);
    EXPECT_TRUE(requests::remove(7));
    EXPECT_TRUE(requests::remove(7));
    EXPECT_FALSE(requests::remove(7));
}

TEST(ReceiveRequests, HoldsManyMoreThanItsFirstLevel) {
    constexpr std::uint64_t count = 300000;
    for (std::uint64_t i = 1; i <= count; ++i)
        ASSERT_TRUE(requests::insert(i * 192)); // as addresses of requests are
    for (std::uint64_t i = 1; i <= count; ++i)
        ASSERT_TRUE(requests::contains(i * 192));
    EXPECT_FALSE(requests::contains(191));
    for (std::uint64_t i = 1; i <= count; ++i)
        ASSERT_TRUE(requests::remove(i * 192));
    for (std::uint64_t i = 1; i <= count; ++i)
        ASSERT_FALSE(requests::contains(i * 192));
}

TEST(ReceiveRequests, ThreadsDoNotLoseEachOthersHandles) {
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread)
        threads.emplace_back([thread] {
            for (std::uint64_t round = 0; round < 200; ++round) {
                for (std::uint64_t i = 1; i <= 200; ++i)
                    EXPECT_TRUE(requests::insert((i * 4 + thread) << 6));
                for (std::uint64_t i = 1; i <= 200; ++i)
                    EXPECT_TRUE(requests::remove((i * 4 + thread) << 6));
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    for (std::uint64_t i = 4; i <= 804; ++i)
        EXPECT_FALSE(requests::contains(i << 6));
}
