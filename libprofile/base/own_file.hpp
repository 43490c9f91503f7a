// Files that libprofile keeps open in the application's table of files (perf counters).
// Contract: thread-safe; allocates nothing; sets errno on failure. Called when a thread begins and ends, and when counters are refused.
#pragma once

#include <sys/types.h>

namespace libprofile {

/// Moves a newly opened file away from the low numbers, on which programs rely; the low number is free again. Returns the new number.
/// Returns -1 with errno, and closes the file, if there is no room: three quarters of the table belong to the application.
int keep_own_file(int file) noexcept;

/// The file is closed, perhaps by the application, and another one may be kept.
void forget_own_file() noexcept;

/// Closes by system call: a library that interposes close() has not seen the file opened.
void close_file(int file) noexcept;

} // namespace libprofile
