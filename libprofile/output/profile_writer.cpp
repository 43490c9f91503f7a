#include "libprofile/output/profile_writer.hpp"

#include "libprofile/output/safe_files.hpp"

#include <cerrno>
#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

namespace libprofile {

bool exceeds_file_limit(std::uint64_t end) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur;
}

int write_at(const char* path, std::uint64_t offset, const void* bytes, std::size_t size) noexcept {
    if (exceeds_file_limit(offset + size)) return EFBIG;
    const int file = open_own(path, O_WRONLY | O_CREAT);
    if (file < 0) return -file;
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
    // Network file systems report an exceeded quota only here.
    if (close(file) != 0 && error == 0) error = errno;
    return error;
}

int replace_file(const char* path, const void* bytes, std::size_t size) noexcept {
    char fresh[4608]; // readers do not take this name for a profile
    const int length = std::snprintf(fresh, sizeof fresh, "%s.new", path);
    if (length < 0 || length >= static_cast<int>(sizeof fresh)) return ENAMETOOLONG;
    unlink(fresh); // left by a process that was killed while writing
    int error = write_at(fresh, 0, bytes, size);
    if (error == 0 && std::rename(fresh, path) != 0) error = errno;
    if (error != 0) unlink(fresh);
    return error;
}

int rename_new(const char* from, const char* to) noexcept {
    if (link(from, to) == 0) {
        unlink(from);
        return 0;
    }
    if (errno == EEXIST) return EEXIST;
    return std::rename(from, to) == 0 ? 0 : errno; // for file systems without hard links
}

} // namespace libprofile
