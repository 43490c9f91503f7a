// Both ends of messages: each once, and none that is not sure.
#include "tools/timeline/message_pairs.hpp"

#include <gtest/gtest.h>

namespace libprofile::tools {

namespace {

TracedMessage message(MessageDirection direction, std::uint32_t partner, std::int32_t tag, std::uint64_t bytes, std::uint64_t number) {
    TracedMessage made;
    made.direction = direction;
    made.partner = partner;
    made.tag = tag;
    made.bytes = bytes;
    made.number = number;
    return made;
}

/// Rank 0 sends to rank 1, whose threads 0 and 1 receive.
Profile profile_of(std::vector<TracedMessage> sent, std::vector<TracedMessage> received, std::vector<TracedMessage> received_by_other = {}) {
    Profile profile;
    for (const auto& [rank, thread, messages] : {std::tuple{0u, 0u, &sent}, std::tuple{1u, 0u, &received}, std::tuple{1u, 1u, &received_by_other}}) {
        Location location;
        location.rank = rank;
        location.thread = thread;
        location.events.messages = *messages;
        profile.locations.push_back(std::move(location));
    }
    return profile;
}

constexpr auto sent = MessageDirection::Sent, received = MessageDirection::Received;

} // namespace

TEST(MessagePairs, EndsWithTheSameNumberAreAPairOnAnyThread) {
    const Profile profile = profile_of({message(sent, 1, 7, 10, 1), message(sent, 1, 7, 20, 2), message(sent, 1, 8, 30, 1)},
                                       {message(received, 0, 8, 30, 1), message(received, 0, 7, 20, 2)}, {message(received, 0, 7, 10, 1)});
    const MessagePairs pairs(profile);
    EXPECT_EQ(pairs.pairs(), 3u);
    EXPECT_EQ(pairs.other_end(0, 0).location, 2u);
    EXPECT_EQ(pairs.thread(pairs.other_end(0, 0)), 1u);
    EXPECT_EQ(pairs.other_end(0, 1).message, 1u);
    EXPECT_EQ(pairs.other_end(1, 0).message, 2u);
    EXPECT_EQ(pairs.other_end(2, 0).location, 0u);
}

TEST(MessagePairs, WhatWasNotKeptOrHasNoNumberIsNotKnown) {
    const Profile profile = profile_of({message(sent, 1, 7, 10, 1), message(sent, 1, 7, 10, 0), message(sent, TracedMessage::unknown_rank, 7, 10, 2)},
                                       {message(received, 0, 7, 10, 2), message(received, 0, 7, 10, 0)});
    const MessagePairs pairs(profile);
    EXPECT_EQ(pairs.pairs(), 0u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(pairs.other_end(0, i).is_known());
}

/// Otherwise it would be counted twice: where it is sent, and where it is received.
TEST(MessagePairs, AMessageMayHaveASenderWhoseReceiverIsNotKnownIfNumbersDoNotTellThemApart) {
    const auto doubts = [](std::vector<TracedMessage> of_sender, std::vector<TracedMessage> of_receiver) {
        const std::size_t ends = of_receiver.size();
        const MessagePairs pairs(profile_of(std::move(of_sender), std::move(of_receiver)));
        std::string list;
        for (std::size_t m = 0; m < ends; ++m) list += pairs.may_have_sender(1, m) ? '?' : '-';
        return list;
    };
    const auto send = [](std::uint64_t bytes, std::uint64_t number) { return message(sent, 1, 7, bytes, number); };
    const auto receive = [](std::uint64_t bytes, std::uint64_t number) { return message(received, 0, 7, bytes, number); };
    EXPECT_EQ(doubts({send(10, 1)}, {receive(10, 2)}), "-");
    EXPECT_EQ(doubts({send(10, 1), send(20, 2)}, {receive(10, 0), receive(20, 0)}), "??");
    EXPECT_EQ(doubts({send(10, 0), send(20, 0)}, {receive(10, 1), receive(20, 2)}), "??");
    EXPECT_EQ(doubts({send(10, 1), send(20, 2)}, {receive(10, 1), receive(20, 0)}), "-?");
    EXPECT_EQ(doubts({send(10, 1), send(20, 2)}, {receive(20, 1), receive(10, 2)}), "??"); // they were completed in another order
    EXPECT_EQ(doubts({}, {receive(10, 0)}), "-");
    EXPECT_EQ(doubts({message(sent, 1, 8, 10, 1)}, {receive(10, 0)}), "-");
    EXPECT_EQ(doubts({send(10, 1)}, {receive(10, 1), receive(10, 0)}), "--"); // all that were sent have their receivers
}

TEST(MessagePairs, WhereBytesDifferNoPairOfTheKindIsTold) {
    const Profile profile = profile_of({message(sent, 1, 7, 10, 1), message(sent, 1, 7, 20, 2), message(sent, 1, 8, 5, 1)},
                                       {message(received, 0, 7, 10, 1), message(received, 0, 7, 30, 2), message(received, 0, 8, 5, 1)});
    const MessagePairs pairs(profile);
    EXPECT_EQ(pairs.pairs(), 1u);
    EXPECT_FALSE(pairs.other_end(0, 0).is_known());
    EXPECT_TRUE(pairs.other_end(0, 2).is_known());
}

} // namespace libprofile::tools
