// What happened since the search for the time loop last thought: as few words as possible, in the order of time. The program's caches are cold at
// an MPI call, so a call only appends here; LoopWatch::think() reads many records at once.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe, allocates nothing.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/metrics/accumulator.hpp"
#include "libprofile/phases/segment.hpp"

#include <cstdint>

namespace libprofile {

enum class RawKind : std::uint8_t { Event, Sample, Other, Returns };

/// The values of a row at some moment.
struct RowValues {
    std::uint32_t beyond = 0; // as Row::beyond, without counters
    std::uint64_t chance_visits = 0;
    const std::uint64_t* first = nullptr;  // Row::in_first_line of them
    const std::uint64_t* others = nullptr; // those of `beyond`, by position
};

/// Those that it has now, as long as it does not change; `room` for metric_count numbers.
RowValues values_of(const Row& row, std::uint64_t* room) noexcept;

class RawLog {
  public:
    struct Record {
        RawKind kind = RawKind::Event;
        NodeId node = 0;
        std::uint32_t common = 0;                            // events: as in LoggedEvent
        std::uint64_t at = 0;                                // ns
        SegmentCounters booked;                              // events, returns: until now
        Row* row = nullptr;                                  // events: of the call
        RowValues before;                                    // events: of that row when the call began
        std::uint32_t after = 0;                             // events: position of the next event with that row, 0 if there is none
        std::uint64_t weight = 0;                            // samples
        std::uint64_t visits = 0, chance_visits = 0, ns = 0; // others
        std::uint32_t first = 0, count = 0;                  // returns: levels
        const std::uint64_t* times = nullptr;                // returns: `count`
    };

    bool is_empty() const { return used_ == 0; }
    /// Bytes used, at least as many as an EventLog needs for the same.
    std::size_t bytes() const { return used_ * sizeof(std::uint64_t); }
    void clear() { used_ = events_ = 0; }

    static constexpr std::uint32_t most_returns = 80;
    /// There is room for returns and an event. Samples and others may need has_room_for_one().
    bool has_room() const { return room() != 0; }
    /// For so many events, if nothing else comes.
    std::uint32_t room() const {
        constexpr std::uint32_t others = returns_words + most_returns + reserve, event = event_words + metric_count;
        return used_ + others >= capacity ? 0 : (capacity - used_ - others) / event;
    }
    static constexpr std::size_t most_bytes() { return capacity * sizeof(std::uint64_t); }
    bool has_room_for_one() const { return used_ + other_words <= capacity; }

    /// A call begins; its time is set later by set_time(). `at_least`: that of the event before.
    void add_event(NodeId node, std::uint32_t common, std::uint64_t at_least, const SegmentCounters& booked, Row& row) noexcept {
        std::uint64_t* to = words_ + used_;
        last_event_ = used_;
        ++events_;
        to[1] = at_least;
        to[2] = common;
        to[3] = booked.events_ns;
        to[4] = booked.asleep_ns;
        to[5] = booked.overhead_ns;
        to[6] = reinterpret_cast<std::uintptr_t>(&row);
        // Word by word: what was just written there cannot be read in larger pieces without waiting for it.
        using Word [[gnu::may_alias]] = std::uint64_t;
        const Word* const line = reinterpret_cast<const Word*>(&row);
        for_each_constant<row_words>([&](auto i) { to[at_row + i] = line[i]; });
        const std::uint32_t beyond = row.beyond & ((1u << Row::counters_bit) - 1);
        to += event_words;
        for (std::uint32_t left = beyond; left != 0; left &= left - 1) *to++ = row.values[Row::in_first_line + static_cast<unsigned>(std::countr_zero(left))];
        const auto words = static_cast<std::uint32_t>(to - words_) - used_;
        words_[used_] = head(RawKind::Event, node, words);
        used_ += words;
    }
    void set_time(std::uint64_t at) noexcept { words_[last_event_ + 1] = at; }
    void add_sample(NodeId node, std::uint64_t weight) noexcept {
        std::uint64_t* to = words_ + used_;
        to[0] = head(RawKind::Sample, node, sample_words);
        to[1] = weight;
        used_ += sample_words;
    }
    void add_other(NodeId node, std::uint64_t visits, std::uint64_t chance_visits, std::uint64_t ns) noexcept {
        std::uint64_t* to = words_ + used_;
        to[0] = head(RawKind::Other, node, other_words);
        to[1] = visits;
        to[2] = chance_visits;
        to[3] = ns;
        used_ += other_words;
    }
    /// Functions at `count` levels from `first` on have returned, at these times.
    void add_returns(const SegmentCounters& booked, std::uint32_t first, const std::uint64_t* times, std::uint32_t count) noexcept {
        std::uint64_t* to = words_ + used_;
        to[0] = head(RawKind::Returns, first, returns_words + count);
        to[1] = count;
        to[2] = booked.events_ns;
        to[3] = booked.asleep_ns;
        to[4] = booked.overhead_ns;
        for (std::uint32_t i = 0; i < count; ++i) to[returns_words + i] = times[i];
        used_ += returns_words + count;
    }

    /// Reads the record at `position`, and moves on to the next. Returns false at the end.
    bool read(std::uint32_t& position, Record& record) const noexcept;
    /// Finds `after` for all events. Call once, before read().
    void link_events() noexcept;
    /// The values of a row at the event at `position`.
    RowValues values_at(std::uint32_t position) const noexcept;

  private:
    // Word 0: kind; for events, the position of the next event with that row; the number of words; node or level.
    static std::uint64_t head(RawKind kind, NodeId node, std::uint32_t words) {
        return std::uint64_t{node} << 32 | std::uint64_t{words} << 24 | static_cast<std::uint64_t>(kind);
    }
    std::uint32_t size_at(std::uint32_t position) const { return static_cast<std::uint32_t>(words_[position] >> 24) & 0xff; }

    static constexpr std::uint32_t capacity = 4096;           // positions have 16 bits in word 0, sizes 8
    static constexpr std::uint32_t at_row = 7, row_words = 8; // of an event: the first line of its row, as it was
    static_assert(offsetof(Row, chance_visits) == 8 && offsetof(Row, values) == 16 && 2 + Row::in_first_line == row_words);
    static constexpr std::uint32_t event_words = at_row + row_words, sample_words = 2, other_words = 4, returns_words = 5;
    static constexpr std::uint32_t reserve = 32 * other_words; // for what comes between events
    std::uint32_t used_ = 0;
    std::uint32_t last_event_ = 0;
    std::uint32_t events_ = 0;
    std::uint64_t words_[capacity];
    static constexpr unsigned most_bits = 10;
    static_assert(capacity / event_words * 2 <= 1u << most_bits);
    std::uint32_t last_[1u << most_bits]; // for link_events(), which may run on a small stack: by row, position + 1
};

} // namespace libprofile
