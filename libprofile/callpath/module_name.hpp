// The kind of a module, by the name of its file.
// Contract: pure functions; thread-safe; async-signal-safe; nothing is allocated.
#pragma once

#include <cstring>

namespace libprofile {

/// The last part of a path.
inline const char* file_name(const char* path) noexcept {
    const char* slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

/// Returns true if `name` begins with one of `prefixes`.
template <class... Prefixes> bool starts_with(const char* name, Prefixes... prefixes) noexcept {
    return (... || (std::strncmp(name, prefixes, std::strlen(prefixes)) == 0));
}

/// Before glibc 2.34, the C library's file is "libc-2.31.so", and threads have a library of their own.
inline bool is_c_library(const char* name) noexcept { return starts_with(name, "libc.so.6", "libc-2.", "libpthread.so.0", "libpthread-2."); }

} // namespace libprofile
