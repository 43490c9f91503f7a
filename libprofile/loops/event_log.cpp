#include "libprofile/loops/event_log.hpp"

#include "libprofile/base/memory.hpp"

#include <cstring>

namespace libprofile {

void EventLog::start(std::uint64_t limit, std::uint64_t now) noexcept {
    limit_ = limit;
    used_ = 0;
    began_at_ = last_at_ = now;
    fold_level_ = ~0u;
    folded_until_ = 0;
    is_full_ = false;
}

void EventLog::replace(EventLog& other, std::uint32_t level, std::uint64_t until) noexcept {
    level = level < other.fold_level_ ? level : other.fold_level_;
    other.release();
    other = *this;
    other.fold_level_ = level;
    other.folded_until_ = until;
    *this = {};
}

void EventLog::release() noexcept {
    if (bytes_ != nullptr) memory_quota.unmap(bytes_, size_);
    bytes_ = nullptr;
    size_ = used_ = 0;
    is_full_ = true;
}

bool EventLog::has_room(std::size_t bytes) noexcept {
    if (is_full_) return false;
    if (used_ + bytes <= size_) return true;
    const std::size_t wanted = size_ == 0 ? smallest : size_ * 2;
    auto* pages = wanted > limit_ ? nullptr : static_cast<unsigned char*>(memory_quota.map(wanted));
    if (pages == nullptr) {
        is_full_ = true;
        return false;
    }
    if (bytes_ != nullptr) {
        std::memcpy(pages, bytes_, used_);
        memory_quota.unmap(bytes_, size_);
    }
    bytes_ = pages;
    size_ = wanted;
    return true;
}

void EventLog::number(std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) bytes_[used_++] = static_cast<unsigned char>(value | 0x80);
    bytes_[used_++] = static_cast<unsigned char>(value);
}

void EventLog::add_event(const LoggedEvent& event) noexcept {
    if (!has_room(largest_record)) return;
    number(std::uint64_t{event.node} << 2 | static_cast<std::uint64_t>(event.comes_again ? LogRecord::EventAgain : LogRecord::Event));
    number(event.at - last_at_);
    number(event.common);
    number(event.since.events_ns);
    number(event.since.asleep_ns);
    number(event.since.overhead_ns);
    last_at_ = event.at;
}

/// If there are too many levels, the outermost ones are kept.
void EventLog::add_returns(const LoggedReturns& returns) noexcept {
    constexpr std::uint32_t room = 80;
    static_assert(12 + first_level * 11 + room * 12 <= largest_record);
    if (!has_room(largest_record)) return;
    std::uint32_t known = 0;
    const std::uint32_t count = returns.count < room ? returns.count : room;
    for (std::uint32_t i = 0; i < count; ++i) known += returns.at[i] != 0 ? 1 : 0;
    begin_values(0, first_level + known);
    add_value(0, returns.since.events_ns);
    add_value(1, returns.since.asleep_ns);
    add_value(2, returns.since.overhead_ns);
    for (std::uint32_t i = 0; i < count; ++i)
        if (returns.at[i] != 0) add_value(first_level + returns.first + i, returns.at[i] - last_at_);
}

void EventLog::add_samples(NodeId node, std::uint64_t count, std::uint64_t weight) noexcept {
    if (!has_room(largest_record)) return;
    number(std::uint64_t{node} << 2 | static_cast<std::uint64_t>(LogRecord::Sample));
    number(count);
    number(weight);
}

void EventLog::begin_values(NodeId node, std::uint32_t cells) noexcept {
    if (!has_room(largest_record)) return;
    number(std::uint64_t{cells} << 2 | static_cast<std::uint64_t>(LogRecord::Values));
    number(node);
}

void EventLog::add_value(std::uint32_t metric, std::uint64_t increment) noexcept {
    if (is_full_) return;
    number(metric);
    number(increment);
}

std::uint64_t EventLog::Reader::number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_; shift += 7) {
        const std::uint64_t byte = *at_++;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    return value;
}

bool EventLog::Reader::next(LogRecord& kind) noexcept {
    std::uint32_t metric = 0;
    for (std::uint64_t increment = 0; unread_ != 0;) value(metric, increment);
    if (at_ == end_) return false;
    const std::uint64_t first = number();
    kind = static_cast<LogRecord>(first & 3);
    switch (kind) {
    case LogRecord::EventAgain:
    case LogRecord::Event:
        event.comes_again = kind == LogRecord::EventAgain;
        kind = LogRecord::Event;
        event.node = static_cast<NodeId>(first >> 2);
        event.at = time_ += number();
        event.common = static_cast<std::uint32_t>(number());
        event.since.events_ns = number();
        event.since.asleep_ns = number();
        event.since.overhead_ns = number();
        break;
    case LogRecord::Sample:
        node = static_cast<NodeId>(first >> 2);
        count = static_cast<std::uint32_t>(number());
        weight = number();
        break;
    case LogRecord::Values:
        unread_ = count = static_cast<std::uint32_t>(first >> 2);
        node = static_cast<NodeId>(number());
        break;
    }
    return true;
}

void EventLog::Reader::value(std::uint32_t& metric, std::uint64_t& increment) noexcept {
    metric = static_cast<std::uint32_t>(number());
    increment = number();
    --unread_;
}

void EventLog::Reader::returns(LoggedReturns& returns) noexcept {
    returns = {};
    while (unread_ != 0) {
        std::uint32_t metric = 0;
        std::uint64_t increment = 0;
        value(metric, increment);
        if (metric == 0) returns.since.events_ns = increment;
        if (metric == 1) returns.since.asleep_ns = increment;
        if (metric == 2) returns.since.overhead_ns = increment;
        if (metric < first_level) continue;
        const std::uint32_t level = metric - first_level;
        if (returns.count == 0) returns.first = level;
        if (level < returns.first || level - returns.first >= LoggedReturns::most) continue;
        returns.count = level - returns.first + 1;
        returns.at[level - returns.first] = time_ + increment;
    }
}

} // namespace libprofile
