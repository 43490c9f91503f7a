#include "tools/timeline/message_kinds.hpp"

namespace libprofile::tools {

namespace {

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

} // namespace

void MessageKinds::add(const TracedMessage& message) {
    if (message.partner == TracedMessage::unknown_rank || are_too_many()) return;
    const bool is_received = message.direction != MessageDirection::Sent;
    has_received_without_number_ = has_received_without_number_ || (is_received && message.number == 0);
    const Key key{message.partner, message.communicator, message.tag, is_received};
    Sum*& sum = last_sum_[is_received ? 1 : 0];
    if (sum == nullptr || last_key_[is_received ? 1 : 0] != key) {
        last_key_[is_received ? 1 : 0] = key;
        sum = &kinds_[key];
    }
    ++sum->number;
    sum->sum += mixed(mixed(message.number) + message.bytes);
}

std::vector<MessageKind> MessageKinds::list() const {
    std::vector<MessageKind> list;
    if (are_too_many()) return list;
    for (const auto& [key, sum] : kinds_) list.push_back({key.partner, key.communicator, key.tag, key.is_received, sum.number, sum.sum});
    return list;
}

} // namespace libprofile::tools
