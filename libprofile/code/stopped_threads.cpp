#include "libprofile/code/stopped_threads.hpp"

#include "libprofile/base/small_file.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace libprofile {

namespace {

bool sleeps(const char* id) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", id);
    char text[256];
    if (read_small_file(path, text, sizeof text) <= 0) return true; // it is gone
    const char* state = std::strrchr(text, ')');                    // the name before it may contain anything
    return state != nullptr && std::strchr("SDZXIt", state[2]) != nullptr;
}

bool do_all_sleep() {
    const int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    const long self = syscall(SYS_gettid);
    bool all = true;
    alignas(8) char buffer[4096];
    for (long n = 0; all && (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) != 0;) {
        if (n < 0) {
            all = false;
            break;
        }
        for (long at = 0; all && at < n;) {
            const char* name = buffer + at + 19; // linux_dirent64: inode, offset, length, type, name
            std::uint16_t length = 0;
            std::memcpy(&length, buffer + at + 16, sizeof length);
            if (*name >= '0' && *name <= '9' && std::atol(name) != self) all = sleeps(name);
            at += length;
        }
    }
    close(fd);
    return all;
}

} // namespace

bool do_other_threads_sleep() noexcept {
    static std::atomic<int> tries{10};
    const timespec moment = {0, 5'000'000};
    bool all = do_all_sleep();
    while (!all && tries.fetch_sub(1, std::memory_order_relaxed) > 0) {
        syscall(SYS_nanosleep, &moment, nullptr);
        all = do_all_sleep();
    }
    return all;
}

} // namespace libprofile
