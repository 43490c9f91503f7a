// Writes bytes to files of the output folder.
// Contract: outside handlers; plain pwrite, never a mapping (a full disk gives an error code, not SIGBUS).
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// Returns true if the kernel would end a process that writes up to `end` (RLIMIT_FSIZE).
bool exceeds_file_limit(std::uint64_t end) noexcept;

/// Writes at `offset` of `path`, a file of ours (open_own), which is created if missing. Returns 0 or an error (what_failed).
int write_at(const char* path, std::uint64_t offset, const void* bytes, std::size_t size) noexcept;

/// Replaces the contents of `path` by `bytes` in one step. Returns 0 or an error.
int replace_file(const char* path, const void* bytes, std::size_t size) noexcept;

/// Gives a finished file its name, unless that is taken. Returns 0 or errno.
int rename_new(const char* from, const char* to) noexcept;

} // namespace libprofile
