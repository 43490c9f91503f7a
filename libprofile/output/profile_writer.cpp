#include "libprofile/output/profile_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace libprofile {

int write_at(const char* path, std::uint64_t offset, const void* bytes, std::size_t size) noexcept {
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    const auto* next = static_cast<const unsigned char*>(bytes);
    int error = 0;
    while (size != 0 && error == 0) {
        const ssize_t written = pwrite(file, next, size, static_cast<off_t>(offset));
        if (written < 0) {
            if (errno != EINTR) error = errno;
            continue;
        }
        if (written == 0) error = ENOSPC;
        next += written;
        offset += static_cast<std::uint64_t>(written);
        size -= static_cast<std::size_t>(written);
    }
    // Network file systems report a full quota only here.
    if (close(file) != 0 && error == 0) error = errno;
    return error;
}

int rename_new(const char* from, const char* to) noexcept {
    if (link(from, to) == 0) {
        unlink(from);
        return 0;
    }
    if (errno == EEXIST) return EEXIST;
    return std::rename(from, to) == 0 ? 0 : errno; // file systems without hard links
}

} // namespace libprofile
