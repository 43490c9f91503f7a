// Reads a part of a file, either all of it or nothing.
// Contract: thread-safe; async-signal-safe; allocates nothing.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <unistd.h>

namespace libprofile {

/// Reads `size` bytes from `offset`. Returns false if they do not all exist or cannot be read.
inline bool read_at(int file, std::uint64_t offset, void* to, std::size_t size) noexcept {
    auto* next = static_cast<unsigned char*>(to);
    while (size != 0) {
        const ssize_t got = pread(file, next, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        next += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

} // namespace libprofile
