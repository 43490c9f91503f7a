// Files that we keep open in the application's table of files (perf counters).
// Contract: thread-safe; allocates nothing; errno says what went wrong. When a thread begins and ends, and when counters are refused.
#pragma once

#include <sys/types.h>

namespace libprofile {

/// Moves a file that was just opened out of the way of programs that rely on low numbers; the low number is free again. Its new number; -1
/// with errno, and the file closed, if there is no room: three quarters of the table are the application's.
int keep_own_file(int file) noexcept;

/// It is closed, by the application perhaps, and another may be kept.
void forget_own_file() noexcept;

/// By the system call: nobody who interposes close() has seen it opened.
void close_file(int file) noexcept;

} // namespace libprofile
