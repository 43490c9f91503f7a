// The names in a folder.
// Contract: thread-safe, allocates nothing (opendir would); system calls only.
#pragma once

#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

/// Calls `visit` for each name, also "." and "..", until it returns true; then returns true. Returns `otherwise` if the folder cannot be read.
template <class Visit> bool any_entry(const char* folder, bool otherwise, Visit visit) noexcept {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return otherwise;
    bool found = false;
    alignas(8) char buffer[4096];
    long n = 0;
    while (!found && (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
        for (long at = 0; !found && at < n;) {
            std::uint16_t length = 0; // linux_dirent64: inode, offset, length, type, name
            std::memcpy(&length, buffer + at + 16, sizeof length);
            found = visit(static_cast<const char*>(buffer + at + 19));
            at += length;
        }
    }
    close(fd);
    return found || (n < 0 && otherwise);
}

} // namespace libprofile
