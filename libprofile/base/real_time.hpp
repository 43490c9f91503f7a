// What time it is, which machines agree on better than on when a process began.
// Contract: thread-safe; async-signal-safe.
#pragma once

#include <cstdint>
#include <ctime>

namespace libprofile {

/// ns since 1970, UTC.
inline std::uint64_t real_time() noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace libprofile
