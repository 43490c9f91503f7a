// What rows become more by between two events of the log: through the MPI call that has begun last, one inside of it, and what is no MPI call.
//
// Contract: as EventLog, into which it writes: belongs to one thread, used with its in-tool flag set; async-signal-safe, allocates nothing
// of its own. Rows must stay where they are until write() or forget().
#pragma once

#include "libprofile/loops/event_log.hpp"

#include <cstdint>

namespace libprofile {

struct Row;

class LoggedValues {
  public:
    explicit LoggedValues(EventLog& log) noexcept : log_(log) {}

    /// An MPI call begins that changes this row. What came before is to be written.
    void begin(Row& row) noexcept { call_.begin(row); }
    /// One inside of it.
    void begin_nested(Row& row) noexcept;
    /// An event that is no MPI call has been booked.
    void add(NodeId node, std::uint64_t visits, std::uint64_t chance_visits, std::uint64_t ns) noexcept;

    void write() noexcept;
    void forget() noexcept {
        call_.row = nested_.row = nullptr;
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
    void write(Begun& call) noexcept;
    void write_others() noexcept;

    EventLog& log_;
    Begun call_;
    Begun nested_;
    static constexpr std::uint32_t most_others = 32; // rows
    Other other_[most_others];
    std::uint32_t others_ = 0;
};

} // namespace libprofile
