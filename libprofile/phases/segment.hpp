// What was booked in the running segment of a thread's wall time (phase_stack.hpp), as counters that only grow until it ends.
// Contract: plain data.
#pragma once

#include <cstdint>

namespace libprofile {

struct SegmentCounters {
    std::uint64_t events_ns = 0;
    std::uint64_t asleep_ns = 0; // of these, without CPU time
    std::uint64_t overhead_ns = 0;

    std::uint64_t wall_ns() const { return events_ns + overhead_ns; }
    std::uint64_t cpu_ns() const { return wall_ns() - asleep_ns; }
    SegmentCounters operator-(const SegmentCounters& other) const {
        return {events_ns - other.events_ns, asleep_ns - other.asleep_ns, overhead_ns - other.overhead_ns};
    }
    SegmentCounters& operator+=(const SegmentCounters& other) {
        events_ns += other.events_ns;
        asleep_ns += other.asleep_ns;
        overhead_ns += other.overhead_ns;
        return *this;
    }
};

} // namespace libprofile
