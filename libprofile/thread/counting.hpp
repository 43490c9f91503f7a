// Where the counters of a thread are booked: what has come since they were read last belongs to the call path of a sample, to a long MPI
// call, or to the phase that is open, which shares it out over its samples when its interval ends, as computing time. Regions have, beside
// that, what has come between their entry and their exit (libprofile/regions/open_regions.hpp).
// Contract: for the thread itself, or the one that closes it; in-tool flag set; async-signal-safe. Without counters: one test.
#pragma once

#include "libprofile/thread/thread.hpp"

namespace libprofile {

/// Books what has come until now for the phase that is open; while nothing is recorded, as not recorded.
[[gnu::cold]] void count_for_phase(Thread& thread) noexcept;
/// For a call path of the phase that is open.
[[gnu::cold]] void count_for(Thread& thread, Row& row) noexcept;
/// The same for what is not of the program: regions do not have it.
[[gnu::cold]] void count_apart(Thread& thread, Row& row) noexcept;

inline void count_until_now(Thread& thread) noexcept {
    if (thread.counters.is_on()) [[unlikely]]
        count_for_phase(thread);
}
/// What libprofile itself has caused since the last reading.
inline void count_own(Thread& thread) noexcept {
    if (thread.counters.is_on()) [[unlikely]]
        count_apart(thread, thread.phases.row(thread.tree.overhead()));
}

} // namespace libprofile
