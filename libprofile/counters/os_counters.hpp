// What the operating system counts for a thread, without PAPI or perf events.
// Contract: async-signal-safe, never allocates.
#pragma once

#include "format/counters.hpp"

#include <cstdint>
#include <sys/types.h>

namespace libprofile {

struct OsCounts {
    std::uint64_t minor_faults = 0;
    std::uint64_t major_faults = 0;
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
    std::uint64_t peak_resident = 0; // bytes, of the process

    std::uint64_t operator[](OsCounter counter) const noexcept;
};

/// Reads the counts of the calling thread: one system call.
void read_os_counts(OsCounts& counts) noexcept;

/// Reads the counts of another thread of this process from /proc. Returns false and leaves `counts` alone if the thread is gone.
bool read_os_counts_of(pid_t thread, OsCounts& counts) noexcept;

} // namespace libprofile
