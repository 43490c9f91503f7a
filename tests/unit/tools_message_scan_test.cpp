// Who sends how much to whom in a selection, counted from events that are left in their file: what all decoded events say.
#include "tests/unit/split_mix.hpp"
#include "tests/unit/tools_timeline_file.hpp"
#include "tools/timeline/message_scan.hpp"

#include <gtest/gtest.h>

namespace libprofile::test {

namespace {

using namespace tools;

using PlainSums = std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>>;

PlainSums literal_messages(const KeptEvents& events, std::uint64_t from, std::uint64_t to) {
    PlainSums sums;
    for (const TracedMessage& message : events.messages) {
        const TracedInterval& call = events.intervals[message.interval];
        const bool is_sent = message.direction == MessageDirection::Sent;
        const bool is_inside = is_sent ? call.begin_ns >= from && call.begin_ns < to : call.end_ns > from && call.end_ns <= to;
        if (!is_inside) continue;
        auto& sum = sums[is_sent ? std::pair(0u, message.partner) : std::pair(message.partner, 0u)];
        ++sum.first;
        sum.second += message.bytes;
    }
    return sums;
}

TEST(MessageScan, MessagesAreThoseWhoseCallBeginsInTheSelectionOrEndsThereIfNobodySentThem) {
    for (const MadeTrace trace : {MadeTrace{3, 40, 1}, MadeTrace{60, 40, 4}, MadeTrace{2, 1200, 1, true}, MadeTrace{40, 3000, 1}}) {
        const TimelineFile file(trace);
        const Profile whole = read_profile(file.path()), left = read_profile_without_events(file.path(), 0);
        const auto index = TimelineIndex::open(left, [](std::size_t, std::size_t) {});
        ASSERT_NE(index, nullptr);
        const KeptEvents& events = whole.locations[0].events;
        const std::uint64_t end = events.parts.back().end_ns;
        const IndexedRows rows = index->rows();
        EXPECT_EQ(all_have_senders(left, rows), trace.stride == 1); // rank 3 has no events; messages without numbers of parts that are not there may be others
        Random random{5};
        for (int i = 0; i < 40; ++i) {
            std::uint64_t from = random() % end, to = random() % end;
            if (from > to) std::swap(from, to);
            if (i == 0) from = 0, to = end;
            if (i % 3 == 1) { // from a call's begin to its end
                const TracedInterval& call = events.intervals[events.messages[random() % events.messages.size()].interval];
                from = call.begin_ns, to = call.end_ns;
            }
            if (i % 3 == 2) to = std::min(to, from + 5000);
            MessageScan scan(left, rows, {{{from, to}}, false});
            for (double share = 0; !scan.is_done(); share = scan.share()) {
                EXPECT_GE(scan.share(), share);
                scan.go_on(std::chrono::milliseconds(0));
            }
            PlainSums sums;
            for (const auto& [ranks, sum] : scan.sums()) sums[ranks] = {sum.messages, sum.bytes};
            EXPECT_EQ(sums, literal_messages(events, from, to)) << from << " to " << to;
            if (i == 0) {
                EXPECT_TRUE(sums.contains({TracedMessage::unknown_rank, 0}) && sums.contains({3, 0}) && sums.contains({0, 1}));
            }
        }
    }
}

} // namespace

} // namespace libprofile::test
