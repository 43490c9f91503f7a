// What grows with time, of each thread at some times that follow each other, of events that were left in their files: time in functions and the number of their
// calls, bytes that are received, and counters. All events there are looked at, which takes its time, so it goes on step by step.
// Contract: one thread, which starts others; keeps references; memory in proportion to threads and times; throws ReadError where files are damaged, and
// std::bad_alloc.
//
// Bytes and messages that are sent count where their sender is, when its call begins; those that have none where they are received. Which ones these are is
// known only if all_have_senders() (message_senders.hpp).
//
// What it says is what viewer/src/events/tracks.ts says of the same events.
#pragma once

#include "tools/timeline/message_senders.hpp"
#include "tools/timeline/timeline_index.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct SeriesQuestion {
    enum class Of : std::uint8_t { Time, Calls, Sent, Messages, Received, Counter };
    Of of = Of::Time;
    std::string name = {};                                     // a state, a function, with * for any characters, or a counter
    std::uint64_t from_rank = 0, end_from = ~std::uint64_t{0}; // of what is received: senders, the last one excluded; all, if it ends nowhere
    std::uint64_t to_rank = 0, end_to = ~std::uint64_t{0};     // receivers
    bool is_total = false;                                     // what came before the first time counts, too
    std::vector<std::vector<double>> edges = {};               // by location: the times, ascending, on its clock; empty: it is not asked for
    bool operator==(const SeriesQuestion&) const = default;
};

class SeriesScan {
  public:
    SeriesScan(const Profile& profile, const IndexedRows& rows, SeriesQuestion question);

    void go_on(std::chrono::milliseconds time);
    bool is_done() const { return next_unit_ == units_.size(); }
    double share() const { return units_.empty() ? 1 : static_cast<double>(next_unit_) / static_cast<double>(units_.size()); }
    const SeriesQuestion& question() const { return question_; }
    /// What it has come to at each of the times of a location, since the first one or the begin. Counters count from their first reading.
    std::vector<double> values(std::size_t location) const;

  private:
    struct Unit {
        std::uint32_t location = 0, group = 0;
    };
    /// Between two times, and before the first and behind the last one.
    struct Cell {
        double sum = 0;
        bool is_read = false;                                // a counter, the first and the last time
        std::pair<std::uint64_t, std::uint64_t> first, last; // ns, value
    };
    using Cells = std::vector<Cell>;
    void add_units();
    void add_far_readings();
    Cells cells_of(const Unit& unit) const;
    void add_calls(const Unit& unit, Cells& cells) const;
    void add_records(const Unit& unit, Cells& cells) const;
    void add_message(const KeptEvents& events, const TracedMessage& message, std::uint64_t rank, const std::vector<double>& edges, Cells& cells) const;
    std::vector<bool> wanted_nodes(const IndexedRow& row) const;
    bool is_of_calls() const { return question_.of == SeriesQuestion::Of::Time || question_.of == SeriesQuestion::Of::Calls; }

    const Profile& profile_;
    const IndexedRows& rows_;
    const MessageSenders senders_;
    const SeriesQuestion question_;
    std::vector<std::vector<bool>> wanted_; // by location, then node
    std::vector<int> counter_;              // by location: its number there; -1: it has none
    std::vector<Unit> units_;
    std::size_t next_unit_ = 0;
    std::vector<Cells> cells_;                                    // by location
    std::vector<std::pair<std::uint32_t, std::uint32_t>> groups_; // by location: from, up to, that are looked at
};

} // namespace libprofile::tools
