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

    auto kind() const { return std::tie(sender, receiver, communicator, tag); }
    auto key() const { return std::tie(sender, receiver, communicator, tag, number); }
};

} // namespace

MessagePairs::MessagePairs(const Profile& profile) {
    std::vector<KeyedEnd> ends;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        ends_.emplace_back(location.events.messages.size());
        may_have_sender_.emplace_back(location.events.messages.size());
        threads_.push_back(location.thread);
        for (std::size_t m = 0; m < location.events.messages.size(); ++m) {
            const TracedMessage& message = location.events.messages[m];
            if (message.partner == TracedMessage::unknown_rank) continue;
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
        return a.key() != b.key() ? a.key() < b.key() : a.direction < b.direction; // with numbers, equal ends do not come: they are given once in a process
    });
    const auto bytes_at = [&](const KeyedEnd& end) { return profile.locations[end.end.location].events.messages[end.end.message].bytes; };
    for (std::size_t first = 0, last = 0; first < ends.size(); first = last) {
        std::vector<std::size_t> pairs; // positions of the ends that stand before their other one
        bool is_right = true;
        for (last = first; last < ends.size() && ends[last].kind() == ends[first].kind(); ++last) {
            if (last == first || ends[last].number == 0 || ends[last - 1].key() != ends[last].key() || ends[last - 1].direction == ends[last].direction)
                continue;
            pairs.push_back(last - 1);
            is_right = is_right && bytes_at(ends[last - 1]) == bytes_at(ends[last]);
        }
        if (!is_right) pairs.clear();
        pairs_ += pairs.size();
        for (const std::size_t at : pairs) {
            ends_[ends[at].end.location][ends[at].end.message] = ends[at + 1].end;
            ends_[ends[at + 1].end.location][ends[at + 1].end.message] = ends[at].end;
        }
        if (is_right && ends[first].number != 0) continue; // ends with other numbers are others
        const auto begin = ends.begin() + static_cast<std::ptrdiff_t>(first), end = ends.begin() + static_cast<std::ptrdiff_t>(last);
        const auto is_alone = [&](const KeyedEnd& one) { return !ends_[one.end.location][one.end.message].is_known(); };
        if (std::none_of(begin, end, [&](const KeyedEnd& one) { return one.direction == MessageDirection::Sent && is_alone(one); })) continue;
        for (auto one = begin; one != end; ++one)
            may_have_sender_[one->end.location][one->end.message] = one->direction == MessageDirection::Received && is_alone(*one);
    }
}

} // namespace libprofile::tools
