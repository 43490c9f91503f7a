// The few lines libprofile prints: on stderr, each beginning with "libprofile: ".
// Contract: say() writes one line with a single write(2); allocates nothing; not for signal handlers.
// Who may speak (one rank for the job) is the caller's decision.
#pragma once

namespace libprofile {

/// LIBPROFILE_QUIET=1.
void silence_messages() noexcept;

/// printf-like (integers and strings only); prefix and newline are added, control characters and broken UTF-8 become '?', longer lines are cut at 9 KiB.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

} // namespace libprofile
