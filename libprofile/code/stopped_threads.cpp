#include "libprofile/code/stopped_threads.hpp"

#include "libprofile/base/folder_entries.hpp"
#include "libprofile/base/small_file.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/syscall.h>
#include <time.h>

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
    const long self = syscall(SYS_gettid);
    return !any_entry("/proc/self/task", true, [self](const char* name) { return *name >= '0' && *name <= '9' && std::atol(name) != self && !sleeps(name); });
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
