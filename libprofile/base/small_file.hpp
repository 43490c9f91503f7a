// The beginning of a small file, such as those of /proc and /sys.
// Contract: thread-safe, allocates nothing; system calls only.
#pragma once

#include <cstddef>
#include <fcntl.h>
#include <unistd.h>

namespace libprofile {

/// Reads up to `capacity` - 1 bytes and appends a zero byte. Returns how many, or -1 if the file does not exist or cannot be read.
inline ssize_t read_small_file(const char* path, char* buffer, std::size_t capacity) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    std::size_t total = 0;
    ssize_t n = 0;
    while (total + 1 < capacity && (n = read(file, buffer + total, capacity - 1 - total)) > 0) total += static_cast<std::size_t>(n);
    close(file);
    if (n < 0 && total == 0) return -1;
    buffer[total] = 0;
    return static_cast<ssize_t>(total);
}

} // namespace libprofile
