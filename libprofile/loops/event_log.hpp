// A compact log of what has happened since the search for the time loop began. Iterations that become known later are cut out of it.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe; pages of its own, at most `limit` bytes. The log ends
// (is_full()) when they are full or memory is short; what it holds stays valid.
//
// Records are numbers of 7 bits a byte: the first byte ends in as many zeros as bytes follow, and a one; nine bytes begin with 0. The log is
// read several times when a loop is settled on, so the length is known at once. The first number of a record says its kind in its two lowest bits:
// event   node, ns since the event before, common, and the growth of three counters of the running segment since then
// event that comes again   the same
//   sample  node, number, weight
// values  number of cells, node, cells*(metric, increment): growth of a row since the event before
// returns values of node 0: growth of the three counters, then levels with the ns from the event before to the return of their functions
#pragma once

#include "format/metrics.hpp"
#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/phases/segment.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace libprofile {

enum class LogRecord : std::uint8_t { Event = 0, Sample = 1, Values = 2, EventAgain = 3 }; // readers get EventAgain as Event

/// Functions of the last event's path that have returned before the next event, by level from `first` on. 0: time unknown.
struct LoggedReturns {
    static constexpr std::uint32_t most = 128; // loops of functions further inside are not found
    SegmentCounters since;                     // growth since the record before
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint64_t at[most] = {};
    std::uint64_t of(std::uint32_t level) const { return level < first || level >= first + count ? 0 : at[level - first]; }
};

/// An MPI call begins.
struct LoggedEvent {
    NodeId node = 0;
    std::uint32_t common = 0; // number of functions on its call path, from the outermost, that have not returned since the event before
    std::uint64_t at = 0;     // ns
    SegmentCounters since;    // growth since the event before
    bool comes_again = false; // within one entry of a function outside it that has not returned; later ones were folded
};

class EventLog {
  public:
    /// Begins anew. The first event's time counts from `now`.
    void start(std::uint64_t limit, std::uint64_t now) noexcept;
    void release() noexcept;

    /// The end is missing.
    bool is_full() const { return is_full_; }
    /// There will soon be no room, given that `more` bytes will be added.
    bool is_nearly_full(std::size_t more = 0) const { return is_full_ || (size_ * 2 > limit_ && used_ + more + 8 * largest_record > size_); }
    std::size_t used() const { return used_; }
    /// Their number.
    std::size_t events() const { return events_; }

    void add_event(const LoggedEvent& event) noexcept;
    void add_returns(const LoggedReturns& returns) noexcept;
    void add_sample(NodeId node, std::uint64_t weight) noexcept { add_samples(node, 1, weight); }
    void add_samples(NodeId node, std::uint64_t count, std::uint64_t weight) noexcept;
    struct Cell {
        std::uint32_t metric;
        std::uint64_t increment;
    };
    static constexpr std::uint32_t most_cells = 83; // returns of 80 levels
    static_assert(cell_metrics < most_cells);
    /// Growth of the row of `node`, in at most most_cells cells.
    void add_values(NodeId node, const Cell* cells, std::uint32_t count) noexcept;

    /// The same, a metric at a time: has_room(), add() for each, and end().
    class Growth {
      public:
        Growth(EventLog& log, NodeId node) noexcept : log_(log), begin_(log.has_room() ? log.end_of_bytes() : nullptr) {
            if (begin_ != nullptr) to_ = number(begin_ + 1, node); // the first byte for their count
        }
        bool has_room() const { return begin_ != nullptr; }
        void add(std::uint32_t metric, std::uint64_t by) noexcept {
            if (by == 0) return;
            to_ = number(number(to_, metric), by);
            ++count_;
        }
        void end() noexcept {
            const auto first = static_cast<unsigned>(first_number(count_, LogRecord::Values));
            *begin_ = static_cast<unsigned char>(first << 1 | 1);
            log_.end_at(first < 0x80 ? to_ : with_two_bytes(first, begin_, to_));
        }

      private:
        /// The first number takes a second byte. Returns the new end.
        [[gnu::cold]] static unsigned char* with_two_bytes(unsigned first, unsigned char* begin, unsigned char* end) noexcept;
        EventLog& log_;
        unsigned char* begin_;
        unsigned char* to_ = nullptr;
        std::uint32_t count_ = 0;
    };

    /// Stands for Row::chance_visits among the metrics.
    static constexpr std::uint32_t chance_visits = 63;
    static constexpr std::uint32_t away_since = 62;
    static_assert(cell_metrics <= away_since);

    /// Time off the processor, booked at the node of a Values record; it lies between `since` and the record.
    struct Away {
        std::uint64_t ns = 0;
        std::uint64_t since = 0; // ns since the log began
    };
    void add_away(NodeId node, const Away& away) noexcept {
        const Cell cells[] = {{static_cast<std::uint32_t>(Metric::Time), away.ns}, {away_since, away.since}};
        add_values(node, cells, 2);
    }

    /// A position between two records.
    struct Position {
        std::size_t offset = 0;
        std::uint64_t time = 0; // of the event before
    };
    Position begin() const { return {0, began_at_}; }
    Position end() const { return {used_, last_at_}; }

    /// Replaces `other`. This log lacks events until `until` that say nothing of loops of functions at `level` or outside it (log_folding.hpp).
    void replace(EventLog& other, std::uint32_t level, std::uint64_t until) noexcept;
    /// Returns the time from which on all events in loops of a function at `level` are logged.
    std::uint64_t known_from(std::uint32_t level) const { return level <= fold_level_ ? began_at_ : folded_until_; }
    std::size_t limit() const { return limit_; }

    class Reader {
      public:
        Reader(const EventLog& log, Position from) : begin_(log.bytes_), at_(log.bytes_ + from.offset), end_(log.bytes_ + log.used_), time_(from.time) {}
        /// Reads the next record. Returns false at the end. After Values the caller may read `count` cells with value().
        bool next(LogRecord& kind) noexcept;
        LoggedEvent event;
        NodeId node = 0;
        std::uint64_t weight = 0;
        std::uint32_t count = 0; // of cells, or of samples
        std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
        void value(std::uint32_t& metric, std::uint64_t& increment) noexcept {
            const unsigned char* from = at_;
            metric = static_cast<std::uint32_t>(number(from));
            increment = number(from);
            at_ = from;
            --unread_;
        }
        /// The cells of add_away(), or of several together.
        Away away() noexcept;
        /// Whether the values are those of add_returns(). Their cells are still unread.
        bool are_returns(LogRecord kind) const { return kind == LogRecord::Values && node == 0; }
        void returns(LoggedReturns& returns) noexcept;

      private:
        /// Reads a number, and up to 7 bytes after it.
        static std::uint64_t number(const unsigned char*& from) noexcept {
            if ((*from & 1) != 0) [[likely]]
                return *from++ >> 1;
            std::uint64_t coded = 0;
            std::memcpy(&coded, from, sizeof coded);
            const auto more = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(coded) | 0x100u)); // bytes after the first
            if (more < 8) [[likely]] {
                from += more + 1;
                return coded << (56 - 8 * more) >> (57 - 7 * more);
            }
            std::memcpy(&coded, from + 1, sizeof coded);
            from += 1 + sizeof coded;
            return coded;
        }
        std::uint32_t unread_ = 0; // cells of the record
        const unsigned char* begin_;
        const unsigned char* at_;
        const unsigned char* end_;
        std::uint64_t time_;
    };

  private:
    static std::uint64_t first_number(std::uint64_t what, LogRecord kind) { return what << 2 | static_cast<std::uint64_t>(kind); }
    /// Returns the end of what it has written; writes up to 7 bytes more. (Bytes may alias everything: through a member, each store would be followed by a
    /// load.)
    static unsigned char* number(unsigned char* to, std::uint64_t value) noexcept {
        if (value < 0x80) [[likely]] {
            *to = static_cast<unsigned char>(value << 1 | 1);
            return to + 1;
        }
        const auto more = static_cast<unsigned>(std::bit_width(value) - 1) / 7; // bytes after the first
        if (more < 8) [[likely]] {
            const std::uint64_t coded = (value << 1 | 1) << more;
            std::memcpy(to, &coded, sizeof coded);
            return to + more + 1;
        }
        *to = 0;
        std::memcpy(to + 1, &value, sizeof value);
        return to + 1 + sizeof value;
    }
    bool has_room() noexcept { return (!is_full_ && used_ + largest_record <= size_) || grow(); }
    bool grow() noexcept;
    unsigned char* end_of_bytes() const { return bytes_ + used_; }
    void end_at(const unsigned char* end) { used_ = static_cast<std::size_t>(end - bytes_); }

    static constexpr std::size_t smallest = 32 << 10;
    static constexpr std::size_t largest_record = 1024;        // the values of a row: all metrics with numbers of at most 10 bytes
    static_assert(20 + most_cells * 12 + 8 <= largest_record); // numbers are read and written 8 bytes at a time
    static constexpr std::uint32_t first_level = 3;            // metrics of returns: the three counters, then levels

    bool is_full_ = true; // first, with what else is_nearly_full() reads
    std::uint32_t fold_level_ = ~0u;
    std::size_t size_ = 0;
    std::size_t used_ = 0;
    std::size_t limit_ = 0;
    unsigned char* bytes_ = nullptr;
    std::size_t events_ = 0;
    std::uint64_t began_at_ = 0;
    std::uint64_t last_at_ = 0;
    std::uint64_t folded_until_ = 0;
};

} // namespace libprofile
