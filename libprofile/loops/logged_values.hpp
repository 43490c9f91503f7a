// The growth of rows between two events of the log: by the last MPI call, by those inside it, and by events other than MPI calls.
//
// Contract: as EventLog, into which it writes: belongs to one thread, used with its in-tool flag set; async-signal-safe, allocates nothing
// itself. Rows must not move before write() or forget().
#pragma once

#include "libprofile/loops/event_log.hpp"

#include <cstdint>

namespace libprofile {

struct Row;
struct RowValues;

/// Less time of a function after its last call counts as none.
inline constexpr std::uint64_t least_outside_ns = 20000;

class LoggedValues {
  public:
    explicit LoggedValues(EventLog& log) noexcept : log_(log) {}

    /// An MPI call begins that changes this row. The caller has written what came before.
    void begin(Row& row) noexcept { call_.begin(row); }
    /// The same of a call that began earlier, when its row had these values.
    void go_on(Row& row, const RowValues& before) noexcept;
    /// Writes what a call has added to its row.
    void write(NodeId node, const RowValues& before, const RowValues& after) noexcept;
    /// How many levels of calls inside that one are told apart: an operation of the program's in a reduction, and what it calls itself.
    static constexpr std::uint32_t most_levels = 3;
    /// A call begins at a level inside that one, from 1 on: the one before at this level is over.
    void begin_nested(Row& row, std::uint32_t level) noexcept;
    /// An event other than an MPI call has been booked.
    void add(NodeId node, std::uint64_t visits, std::uint64_t chance_visits, std::uint64_t ns) noexcept;

    void write() noexcept {
        if (call_.row != nullptr || has_nested_ || others_ != 0) write_all();
    }
    void forget() noexcept {
        call_.row = nullptr;
        for (Begun& nested : nested_) nested.row = nullptr;
        has_nested_ = false;
        others_ = 0;
    }

  private:
    /// A row as it was when a call began.
    struct Begun {
        Row* row = nullptr;
        std::uint64_t before[cell_metrics] = {};
        std::uint64_t chance_before = 0;
        void begin(Row& of) noexcept;
    };
    struct Other {
        NodeId node;
        std::uint64_t visits;
        std::uint64_t chance_visits;
        std::uint64_t ns;
    };
    void write_all() noexcept;
    void write(Begun& call) noexcept;
    void write_others() noexcept;

    EventLog& log_;
    Begun call_;
    Begun nested_[most_levels]; // by level
    bool has_nested_ = false;
    static constexpr std::uint32_t most_others = 32; // rows
    Other other_[most_others];
    std::uint32_t others_ = 0;
};

} // namespace libprofile
