// Which kernel clock a process has: processes of one machine have one, but for those in a time namespace of their own (containers).
// Contract: async-signal-safe; reads two files of /proc; called at the end and for snapshots.
#pragma once

#include <cstdint>

namespace libprofile {

/// Equal for processes whose CLOCK_MONOTONIC is the same; 0 if the kernel does not say which it is. Below 2^63.
std::uint64_t monotonic_clock_id() noexcept;

} // namespace libprofile
