#include "libprofile/base/own_file.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

namespace {

std::atomic<rlim_t> kept_files{0};

/// Returns the lowest number that suits; 0 if there is no room.
int first_number() noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 64) return 0;
    if (kept_files.load(std::memory_order_relaxed) >= limit.rlim_cur / 4) return 0;
    return limit.rlim_cur > 1000 ? 500 : static_cast<int>(limit.rlim_cur / 2);
}

} // namespace

void close_file(int file) noexcept { syscall(SYS_close, file); }

int keep_own_file(int file) noexcept {
    const int first = first_number();
    const int kept = first == 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, first);
    const int error = first == 0 ? EMFILE : errno;
    close_file(file);
    if (kept >= 0) kept_files.fetch_add(1, std::memory_order_relaxed);
    errno = error;
    return kept;
}

void forget_own_file() noexcept { kept_files.fetch_sub(1, std::memory_order_relaxed); }

} // namespace libprofile
