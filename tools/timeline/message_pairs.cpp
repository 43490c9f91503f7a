#include "tools/timeline/message_pairs.hpp"

#include <algorithm>
#include <tuple>

namespace libprofile::tools {

namespace {

/// One end, and what it has in common with the other one.
struct KeyedEnd {
    std::uint32_t sender, receiver, communicator;
    std::int32_t tag;
    std::uint64_t number;
    MessageDirection direction;
    MessagePairs::End end;

    auto key() const { return std::tie(sender, receiver, communicator, tag, number); }
};

} // namespace

MessagePairs::MessagePairs(const Profile& profile) {
    std::vector<KeyedEnd> ends;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        ends_.emplace_back(location.events.messages.size());
        for (std::size_t m = 0; m < location.events.messages.size(); ++m) {
            const TracedMessage& message = location.events.messages[m];
            if (message.number == 0 || message.partner == TracedMessage::unknown_rank) continue;
            const bool is_sent = message.direction == MessageDirection::Sent;
            ends.push_back({is_sent ? location.rank : message.partner,
                            is_sent ? message.partner : location.rank,
                            message.communicator,
                            message.tag,
                            message.number,
                            message.direction,
                            {static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(m)}});
        }
    }
    std::sort(ends.begin(), ends.end(), [](const KeyedEnd& a, const KeyedEnd& b) {
        return a.key() != b.key() ? a.key() < b.key() : a.direction < b.direction; // equal ends do not come: numbers are given once in a process
    });
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        const KeyedEnd &a = ends[i], &b = ends[i + 1];
        if (a.key() != b.key() || a.direction == b.direction) continue;
        ends_[a.end.location][a.end.message] = b.end;
        ends_[b.end.location][b.end.message] = a.end;
        ++pairs_;
        ++i;
    }
}

} // namespace libprofile::tools
