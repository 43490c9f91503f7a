#include "libprofile/counters/software_events.hpp"

#include "libprofile/base/own_file.hpp"
#include "libprofile/base/small_file.hpp"
#include "libprofile/counters/counter_choice.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

namespace {

/// Returns the kernel's file, or -1 with errno.
int open_event(const SoftwareEventRow& event, pid_t thread, int group, bool user_only) noexcept {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = event.config;
    attributes.read_format = PERF_FORMAT_GROUP;
    attributes.exclude_kernel = user_only ? 1 : 0;
    attributes.exclude_hv = user_only ? 1 : 0;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, group, PERF_FLAG_FD_CLOEXEC));
}

int open_either(const SoftwareEventRow& event, pid_t thread, int group) noexcept {
    const int file = open_event(event, thread, group, false);
    if (file >= 0 || (errno != EACCES && errno != EPERM) || !event.in_user) return file;
    return open_event(event, thread, group, true);
}

} // namespace

int try_software_event(const SoftwareEventRow& event) noexcept {
    const int file = open_either(event, 0, -1);
    if (file < 0) return errno;
    close_file(file);
    return 0;
}

void describe_refusal(int error, char* text, std::size_t size) noexcept {
    char paranoid[16];
    if (read_small_file("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid) > 0)
        paranoid[std::strcspn(paranoid, "\n")] = 0;
    else
        std::snprintf(paranoid, sizeof paranoid, "unknown");
    switch (error) {
    case EACCES:
    case EPERM:
        if (error == EACCES || std::atoi(paranoid) >= 2)
            std::snprintf(text, size, "kernel.perf_event_paranoid is %s; the administrator can permit it with `sysctl kernel.perf_event_paranoid=1`", paranoid);
        else
            std::snprintf(text, size,
                          "perf_event_open is not permitted, probably by a container's seccomp profile; it needs CAP_PERFMON or a profile "
                          "that permits it (kernel.perf_event_paranoid is %s)",
                          paranoid);
        return;
    case ENOSYS: std::snprintf(text, size, "this kernel, or the sandbox it runs in, has no perf_event_open"); return;
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        std::snprintf(text, size, "the processor shows no hardware counters, as in most virtual machines; the host must pass them on (a virtual PMU)");
        return;
    case EMFILE:
    case ENFILE: std::snprintf(text, size, "too many open files (ulimit -n)"); return;
    default: std::snprintf(text, size, "%s", strerrordesc_np(error) != nullptr ? strerrordesc_np(error) : "unknown error");
    }
}

bool SoftwareEvents::open(pid_t thread) noexcept {
    count_ = 0;
    mask_ = 0;
    for (std::uint32_t i = 0; i < counter_choice.count(); ++i) {
        const ChosenCounter& counter = counter_choice[i];
        if (!counter.is_read_from(CounterSource::Software)) continue;
        const int low = open_either(software_event_table[counter.row], thread, count_ == 0 ? -1 : files_[0]);
        const int file = low < 0 ? -1 : keep_own_file(low);
        if (file < 0) continue;
        files_[count_] = file;
        indexes_[count_++] = static_cast<std::uint8_t>(i);
        mask_ = static_cast<std::uint8_t>(mask_ | 1u << i);
    }
    if (count_ != 0 && ioctl(files_[0], PERF_EVENT_IOC_ID, &id_) != 0) close();
    return count_ != 0;
}

bool SoftwareEvents::is_own() const noexcept {
    std::uint64_t id = 0;
    return ioctl(files_[0], PERF_EVENT_IOC_ID, &id) == 0 && id == id_;
}

bool SoftwareEvents::read(std::uint64_t* values) noexcept {
    if (count_ == 0) return false;
    std::uint64_t group[1 + most_counters] = {};
    const std::size_t wanted = (1 + count_) * sizeof *group;
    if (!is_own() || ::read(files_[0], group, wanted) != static_cast<ssize_t>(wanted) || group[0] != count_) {
        forget(); // the application has closed them
        return false;
    }
    for (std::uint32_t i = 0; i < count_; ++i) values[indexes_[i]] = group[1 + i];
    return true;
}

void SoftwareEvents::forget() noexcept {
    for (; count_ != 0; --count_) forget_own_file();
}

void SoftwareEvents::close() noexcept {
    if (count_ != 0 && is_own())
        for (std::uint32_t i = 0; i < count_; ++i) close_file(files_[i]);
    forget();
}

} // namespace libprofile
