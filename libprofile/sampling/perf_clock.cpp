#include "libprofile/sampling/perf_clock.hpp"

#include "libprofile/base/own_file.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

namespace {

// All file numbers that our counters ever had. A signal may arrive after its counter is gone, and must not be taken for one of the application's, whose
// default action ends the process.
constexpr int most_files = 1 << 16;
std::atomic<std::uint64_t> numbers[most_files / 64];

/// If no signal can be queued, the kernel sends SIGIO instead, which ends programs that do not expect it.
bool signals_may_be_lost() {
    rlimit limit{};
    constexpr rlim_t plenty = 1024;
    return getrlimit(RLIMIT_SIGPENDING, &limit) != 0 || limit.rlim_cur < plenty;
}

bool send_signals(int file, pid_t thread, int signal) {
    f_owner_ex owner{F_OWNER_TID, thread};
    return fcntl(file, F_SETSIG, signal) == 0 && fcntl(file, F_SETOWN_EX, &owner) == 0 && fcntl(file, F_SETFL, O_ASYNC) == 0;
}

} // namespace

int open_counter(ClockState& clock, pid_t thread, std::uint64_t period, int signal) noexcept {
    if (signals_may_be_lost()) return EAGAIN;
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.sample_period = period;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    const long low = syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    const int file = low < 0 ? -1 : keep_own_file(static_cast<int>(low));
    if (file < 0) return errno;
    if (file >= most_files) errno = EMFILE;
    if (file >= most_files || ioctl(file, PERF_EVENT_IOC_ID, &clock.file_id) != 0 || !send_signals(file, thread, signal)) {
        const int error = errno;
        close_file(file);
        forget_own_file();
        return error;
    }
    numbers[file / 64].fetch_or(std::uint64_t{1} << (file % 64), std::memory_order_relaxed);
    clock.file = file;
    return 0;
}

bool is_own_counter(const ClockState& clock) noexcept {
    std::uint64_t id = 0;
    return clock.file >= 0 && ioctl(clock.file, PERF_EVENT_IOC_ID, &id) == 0 && id == clock.file_id;
}

bool set_counter_period(const ClockState& clock, std::uint64_t period) noexcept { return ioctl(clock.file, PERF_EVENT_IOC_PERIOD, &period) == 0; }

bool arm_counter(const ClockState& clock) noexcept { return ioctl(clock.file, PERF_EVENT_IOC_REFRESH, 1) == 0; }

void arm_counter_of(const siginfo_t& info) noexcept { ioctl(info.si_fd, PERF_EVENT_IOC_REFRESH, 1); }

void close_counter(const ClockState& clock) noexcept {
    forget_own_file();
    if (!is_own_counter(clock)) return;
    ioctl(clock.file, PERF_EVENT_IOC_DISABLE, 0);
    close_file(clock.file);
}

bool is_our_counter(const siginfo_t& info) noexcept {
    if (info.si_code < POLL_IN || info.si_code > POLL_HUP) return false;
    const int file = info.si_fd;
    return file >= 0 && file < most_files && (numbers[file / 64].load(std::memory_order_relaxed) >> (file % 64) & 1) != 0;
}

} // namespace libprofile
