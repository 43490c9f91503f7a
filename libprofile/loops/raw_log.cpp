#include "libprofile/loops/raw_log.hpp"

#include "libprofile/base/hashing.hpp"

#include <algorithm>
#include <bit>

namespace libprofile {

namespace {

RawKind kind_of(std::uint64_t head) { return static_cast<RawKind>(head & 0xff); }

} // namespace

RowValues values_of(const Row& row, std::uint64_t* room) noexcept {
    RowValues values;
    values.beyond = row.beyond & ((1u << Row::counters_bit) - 1);
    values.chance_visits = row.chance_visits;
    values.first = row.values;
    values.others = room;
    for (std::uint32_t left = values.beyond; left != 0; left &= left - 1)
        *room++ = row.values[Row::in_first_line + static_cast<unsigned>(std::countr_zero(left))];
    return values;
}

RowValues RawLog::values_at(std::uint32_t position) const noexcept {
    const std::uint64_t* words = words_ + position;
    RowValues values;
    values.beyond = static_cast<std::uint32_t>(words[at_row] >> 32) & ((1u << Row::counters_bit) - 1);
    values.chance_visits = words[at_row + 1];
    values.first = words + at_row + 2;
    values.others = words + event_words;
    return values;
}

/// From the first to the last: each event is the next one of the event that is remembered for its row.
void RawLog::link_events() noexcept {
    const auto bits = static_cast<unsigned>(std::bit_width(events_ * 2));
    std::uint32_t* last = last_;
    std::fill(last, last + (std::size_t{1} << bits), 0);
    for (std::uint32_t at = 0; at < used_; at += size_at(at)) {
        if (kind_of(words_[at]) != RawKind::Event) continue;
        std::uint32_t slot = static_cast<std::uint32_t>(short_hash(words_[at + 6], bits));
        while (last[slot] != 0 && words_[last[slot] - 1 + 6] != words_[at + 6]) slot = (slot + 1) % (1u << bits);
        if (last[slot] != 0) words_[last[slot] - 1] |= std::uint64_t{at} << 8;
        last[slot] = at + 1;
    }
}

bool RawLog::read(std::uint32_t& position, Record& record) const noexcept {
    if (position >= used_) return false;
    const std::uint64_t* words = words_ + position;
    record.kind = kind_of(words[0]);
    record.node = static_cast<NodeId>(words[0] >> 32);
    switch (record.kind) {
    case RawKind::Event:
        record.after = static_cast<std::uint32_t>(words[0] >> 8) & 0xffff;
        record.at = words[1];
        record.common = static_cast<std::uint32_t>(words[2]);
        record.booked = {words[3], words[4], words[5]};
        record.row = reinterpret_cast<Row*>(words[6]);
        record.before = values_at(position);
        break;
    case RawKind::Sample: record.weight = words[1]; break;
    case RawKind::Other:
        record.visits = words[1];
        record.chance_visits = words[2];
        record.ns = words[3];
        break;
    case RawKind::Returns:
        record.first = static_cast<std::uint32_t>(words[0] >> 32);
        record.count = static_cast<std::uint32_t>(words[1]);
        record.booked = {words[2], words[3], words[4]};
        record.times = words + returns_words;
        break;
    }
    position += size_at(position);
    return true;
}

} // namespace libprofile
