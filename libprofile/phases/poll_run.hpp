// Unsuccessful tests and probes that follow each other from one call site: their time is found together.
// Contract: plain data of one thread's phase stack, used with the in-tool flag set.
//
// Why: a program that polls asks millions of times a second, and reading the clock twice costs more than such a call. In a
// run every 11th call is timed, successful or not, and the others are taken to last as long on average; together not
// longer than the run. Each is counted; Metric::TimedTogether says how many have a time that was found like this.
#pragma once

#include "libprofile/metrics/accumulator.hpp"

#include <cstdint>

namespace libprofile {

struct PollRun {
    const void* site = nullptr; // of whoever polls; nullptr: there is no run
    const void* path = nullptr; // what its call path rests on
    Row* row = nullptr;
    std::uint64_t began_at = 0;   // ns: the end of the first unsuccessful call, which was timed as any other
    std::uint64_t booked = 0;     // ns in events and libprofile that the segment held then
    std::uint64_t own_ns = 0;     // of libprofile, around a call that is not timed
    std::uint64_t untimed = 0;    // calls
    std::uint64_t timed = 0;
    std::uint64_t timed_ns = 0;
    std::uint64_t first_ns = 0;   // the first call's; used while no other was timed
    std::uint32_t until_timed = 0;

    static constexpr std::uint32_t timed_every = 11;

    /// A call begins: true when it is to be timed.
    bool is_due() {
        if (until_timed != 0) {
            --until_timed;
            return false;
        }
        until_timed = timed_every - 1;
        return true;
    }
    std::uint64_t estimate() const {
        if (timed == 0) return untimed * first_ns;
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(timed_ns) * untimed / timed);
    }
};

} // namespace libprofile
