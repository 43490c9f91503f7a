#include "libprofile/output/safe_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile {

namespace {

constexpr std::size_t path_size = 4608;

/// The owner of files that we make in a folder. File servers and containers may replace us by another user.
uid_t own_user_in(const char* folder) {
    char probe[path_size];
    std::snprintf(probe, sizeof probe, "%s/.libprofile.%d", folder, static_cast<int>(getpid()));
    const int file = open_new(probe);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) status.st_uid = geteuid();
    if (file >= 0) {
        close(file);
        unlink(probe);
    }
    return status.st_uid;
}

/// Our own file, or the superuser's, who can do anything anyway.
bool is_own(uid_t owner, const char* folder) { return owner == geteuid() || owner == 0 || owner == own_user_in(folder); }

bool is_own_file(int file, const char* path) {
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1) return false;
    char folder[path_size];
    std::snprintf(folder, sizeof folder, "%s", path);
    char* slash = std::strrchr(folder, '/');
    std::strcpy(slash == nullptr ? folder : slash + 1, ".");
    return is_own(status.st_uid, folder);
}

} // namespace

const char* what_failed(int error) noexcept {
    switch (error) {
    case ForeignFolder: return "it belongs to another user";
    case OpenFolder: return "every user may write there";
    case EFBIG: return "it is larger than ulimit -f permits";
    case ForeignFile: return "it is a link, or no file of this user";
    default: return std::strerror(error);
    }
}

int check_folder(const char* path) noexcept {
    struct stat status {};
    struct stat link {};
    if (stat(path, &status) != 0 || lstat(path, &link) != 0) return errno;
    if (!S_ISDIR(status.st_mode)) return ENOTDIR;
    if ((status.st_mode & S_IWOTH) != 0) return OpenFolder;
    return is_own(link.st_uid, path) && is_own(status.st_uid, path) ? 0 : ForeignFolder;
}

int open_new(const char* path) noexcept {
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return file < 0 ? -errno : file;
}

int open_own(const char* path, int access) noexcept {
    for (int i = 0; i < 10; ++i) { // another rank may create it in between
        // Opening a pipe must not wait.
        const int file = open(path, (access & ~O_CREAT) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (file >= 0) {
            if (is_own_file(file, path)) return file;
            close(file);
            return -ForeignFile;
        }
        if (errno != ENOENT || (access & O_CREAT) == 0) return errno == ELOOP || errno == ENXIO ? -ForeignFile : -errno;
        const int made = open_new(path);
        if (made != -EEXIST) return made;
    }
    return -EEXIST;
}

} // namespace libprofile
