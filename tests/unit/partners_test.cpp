// Partners of messages: the first ones of a call path are told apart, and every message is counted once.
#include "libprofile/thread/partners.hpp"

#include <gtest/gtest.h>

#include <numeric>

using namespace libprofile;

namespace {

struct Total {
    std::uint64_t messages = 0, bytes = 0, rows = 0;
};

Total total_of(const Partners& partners) {
    Total total;
    partners.for_each([&](NodeId, MessageDirection, const Partners::Row& row) {
        ++total.rows;
        for (const Partners::Sum& sum : row.sums) total.messages += sum.messages, total.bytes += sum.bytes;
    });
    return total;
}

} // namespace

TEST(Partners, TellsTheFirstOnesApartAndAddsTheOthersUp) {
    Arena arena;
    Partners partners;
    for (int round = 0; round < 3; ++round)
        for (std::uint32_t rank = 0; rank < 12; ++rank) partners.count(7, MessageDirection::Sent, rank, rank + 1, arena);
    partners.count(7, MessageDirection::Sent, Partners::unknown, 5, arena);
    partners.for_each([&](NodeId node, MessageDirection direction, const Partners::Row& row) {
        EXPECT_EQ(node, 7u);
        EXPECT_EQ(direction, MessageDirection::Sent);
        ASSERT_EQ(row.size, most_partners);
        for (std::uint32_t i = 0; i < most_partners; ++i) {
            EXPECT_EQ(row.ranks[i], i);
            EXPECT_EQ(row.sums[i].messages, 3u);
            EXPECT_EQ(row.sums[i].bytes, 3u * (i + 1));
        }
        EXPECT_EQ(row.sums[Partners::others_at].messages, 12u);
        EXPECT_EQ(row.sums[Partners::others_at].bytes, 3u * (9 + 10 + 11 + 12));
        EXPECT_EQ(row.sums[Partners::unknown_at].messages, 1u);
        EXPECT_EQ(row.sums[Partners::unknown_at].bytes, 5u);
    });
    EXPECT_EQ(partners.rows(), 1u);
}

TEST(Partners, AnUnknownFirstPartnerIsNoRank) {
    Arena arena;
    Partners partners;
    partners.count(1, MessageDirection::Received, Partners::unknown, 0, arena);
    partners.count(1, MessageDirection::Received, 0, 2, arena);
    partners.for_each([&](NodeId, MessageDirection, const Partners::Row& row) {
        EXPECT_EQ(row.sums[Partners::unknown_at].messages, 1u);
        EXPECT_EQ(row.size, 1u);
        EXPECT_EQ(row.sums[0].bytes, 2u);
    });
}

TEST(Partners, PathsAndDirectionsAreApartHoweverManyThereAre) {
    Arena arena;
    Partners partners;
    for (NodeId node = 1; node < 5000; ++node)
        for (const MessageDirection direction : {MessageDirection::Sent, MessageDirection::Received}) partners.count(node, direction, node % 3, node, arena);
    NodeId before = 0;
    partners.for_each([&](NodeId node, MessageDirection, const Partners::Row& row) {
        EXPECT_GE(node, before);
        before = node;
        EXPECT_EQ(row.ranks[0], node % 3);
        EXPECT_EQ(row.sums[0].bytes, node);
    });
    EXPECT_EQ(partners.rows(), 2u * 4999);
    EXPECT_EQ(partners.lost(), 0u);
}

TEST(Partners, WithoutMemoryMessagesAreCountedAsLost) {
    const std::uint64_t limit = memory_quota.limit();
    Arena arena;
    Partners partners;
    memory_quota.limit(memory_quota.used() + (64 << 10));
    for (NodeId node = 1; node < 5000; ++node) partners.count(node, MessageDirection::Sent, 0, 1, arena);
    memory_quota.limit(limit);
    const Total total = total_of(partners);
    EXPECT_GT(partners.lost(), 0u);
    EXPECT_GT(total.messages, 0u);
    EXPECT_EQ(total.messages + partners.lost(), 4999u);
}
