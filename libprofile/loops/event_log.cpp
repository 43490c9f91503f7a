#include "libprofile/loops/event_log.hpp"

#include "libprofile/base/memory.hpp"

#include <cstring>

namespace libprofile {

void EventLog::start(std::uint64_t limit, std::uint64_t now) noexcept {
    limit_ = limit;
    used_ = events_ = 0;
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
    size_ = used_ = events_ = 0;
    is_full_ = true;
}

bool EventLog::grow() noexcept {
    if (is_full_) return false;
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

void EventLog::add_event(const LoggedEvent& event) noexcept {
    if (!has_room()) return;
    unsigned char* to = end_of_bytes();
    to = number(to, first_number(event.node, event.comes_again ? LogRecord::EventAgain : LogRecord::Event));
    to = number(to, event.at - last_at_);
    to = number(to, event.common);
    to = number(to, event.since.events_ns);
    to = number(to, event.since.asleep_ns);
    end_at(number(to, event.since.overhead_ns));
    last_at_ = event.at;
    ++events_;
}

/// If there are too many levels, the outermost ones are kept.
void EventLog::add_returns(const LoggedReturns& returns) noexcept {
    constexpr std::uint32_t room = most_cells - first_level;
    Cell cells[most_cells]; // of which few are used
    cells[0] = {0, returns.since.events_ns};
    cells[1] = {1, returns.since.asleep_ns};
    cells[2] = {2, returns.since.overhead_ns};
    std::uint32_t used = first_level;
    const std::uint32_t count = returns.count < room ? returns.count : room;
    for (std::uint32_t i = 0; i < count; ++i)
        if (returns.at[i] != 0) cells[used++] = {first_level + returns.first + i, returns.at[i] - last_at_};
    add_values(0, cells, used);
}

void EventLog::add_samples(NodeId node, std::uint64_t count, std::uint64_t weight) noexcept {
    if (!has_room()) return;
    end_at(number(number(number(end_of_bytes(), first_number(node, LogRecord::Sample)), count), weight));
}

void EventLog::add_values(NodeId node, const Cell* cells, std::uint32_t count) noexcept {
    if (!has_room()) return;
    unsigned char* to = number(number(end_of_bytes(), first_number(count, LogRecord::Values)), node);
    for (std::uint32_t i = 0; i < count; ++i) to = number(number(to, cells[i].metric), cells[i].increment);
    end_at(to);
}

unsigned char* EventLog::Growth::with_two_bytes(unsigned first, unsigned char* begin, unsigned char* end) noexcept {
    std::memmove(begin + 2, begin + 1, static_cast<std::size_t>(end - begin - 1));
    const unsigned coded = (first << 1 | 1) << 1;
    begin[0] = static_cast<unsigned char>(coded);
    begin[1] = static_cast<unsigned char>(coded >> 8);
    return end + 1;
}

bool EventLog::Reader::next(LogRecord& kind) noexcept {
    std::uint32_t metric = 0;
    for (std::uint64_t increment = 0; unread_ != 0;) value(metric, increment);
    if (at_ >= end_) return false;
    const unsigned char* from = at_;
    const std::uint64_t first = number(from);
    kind = static_cast<LogRecord>(first & 3);
    switch (kind) {
    case LogRecord::EventAgain:
    case LogRecord::Event:
        event.comes_again = kind == LogRecord::EventAgain;
        kind = LogRecord::Event;
        event.node = static_cast<NodeId>(first >> 2);
        event.at = time_ += number(from);
        event.common = static_cast<std::uint32_t>(number(from));
        event.since.events_ns = number(from);
        event.since.asleep_ns = number(from);
        event.since.overhead_ns = number(from);
        break;
    case LogRecord::Sample:
        node = static_cast<NodeId>(first >> 2);
        count = static_cast<std::uint32_t>(number(from));
        weight = number(from);
        break;
    case LogRecord::Values:
        unread_ = count = static_cast<std::uint32_t>(first >> 2);
        node = static_cast<NodeId>(number(from));
        break;
    }
    at_ = from;
    return true;
}

EventLog::Away EventLog::Reader::away() noexcept {
    Away away;
    while (unread_ != 0) {
        std::uint32_t metric = 0;
        std::uint64_t increment = 0;
        value(metric, increment);
        (metric == away_since ? away.since : away.ns) = increment;
    }
    return away;
}

void EventLog::Reader::returns(LoggedReturns& returns) noexcept {
    returns.since = {};
    returns.first = returns.count = 0;
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
        const std::uint32_t index = level - returns.first;
        while (returns.count <= index) returns.at[returns.count++] = 0; // levels without a time
        returns.at[index] = time_ + increment;
    }
}

} // namespace libprofile
