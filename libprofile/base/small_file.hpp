// The beginning of a small file, such as those of /proc and /sys; a number in one of any length.
// Contract: thread-safe, allocates nothing; system calls only.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
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

/// The number behind `name`, with which a line begins (not the first): /proc/stat has a line per processor, and one with all interrupts. 0 if there is none.
inline long long number_in_file(const char* path, const char* name) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[4096];
    constexpr std::size_t longest = 64; // name and number; they may lie across the border of two pieces
    std::size_t kept = 0;
    long long number = 0;
    for (ssize_t n = 0; number == 0 && (n = read(file, text + kept, sizeof text - 1 - kept)) > 0;) {
        const std::size_t size = kept + static_cast<std::size_t>(n);
        text[size] = 0;
        for (const char* line = text; number == 0 && (line = std::strchr(line, '\n')) != nullptr; ++line)
            if (std::strncmp(line + 1, name, std::strlen(name)) == 0 && std::strchr(line + 1, '\n') != nullptr)
                number = std::strtoll(line + 1 + std::strlen(name), nullptr, 10);
        kept = size < longest ? size : longest;
        std::memmove(text, text + size - kept, kept);
    }
    close(file);
    return number;
}

} // namespace libprofile
