// The few lines that libprofile prints on stderr. Each begins with "libprofile: ".
// Contract: say() writes one line with a single write(2) and allocates nothing. Not for signal handlers.
// The caller decides who may print (one rank for the job).
#pragma once

namespace libprofile {

/// For LIBPROFILE_QUIET=1.
void silence_messages() noexcept;

/// Like printf (integers and strings only). Adds prefix and newline, replaces control characters and broken UTF-8 by '?', cuts lines at 9 KiB.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

} // namespace libprofile
