// Books the counters of a thread. Counts since the last reading belong to the call path of a sample, to a long MPI call, or to the open phase. At
// the end of its interval a phase shares them out over its samples, as computing time. Regions also get the counts between their entry and exit
// (libprofile/regions/open_regions.hpp).
// Contract: for the thread itself, or the one that closes it; in-tool flag set; async-signal-safe. Without counters: one test.
#pragma once

#include "libprofile/thread/thread.hpp"

namespace libprofile {

/// Books the counts until now for the open phase, or as not recorded while recording is off.
[[gnu::cold]] void count_for_phase(Thread& thread) noexcept;
/// Books them for a call path of the open phase.
[[gnu::cold]] void count_for(Thread& thread, Row& row) noexcept;
/// Books counts that are not the program's own. Regions do not get them.
[[gnu::cold]] void count_apart(Thread& thread, Row& row) noexcept;

inline void count_until_now(Thread& thread) noexcept {
    if (thread.counters.is_on()) [[unlikely]]
        count_for_phase(thread);
}
/// Books the counts caused by libprofile since the last reading.
inline void count_own(Thread& thread) noexcept {
    if (thread.counters.is_on()) [[unlikely]]
        count_apart(thread, thread.phases.row(thread.tree.overhead()));
}

} // namespace libprofile
