#include "libprofile/base/safe_copy.hpp"

#include <cerrno>
#include <cstring>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace libprofile {

namespace {

/// Returns true if a word can be read there: the kernel looks at the new mask before it finds that it does not know what to do with it, or that there
/// is no such process. Emulators of programs look at the one of processors only.
bool is_readable(const void* address) {
    constexpr int no_process = 0x7fffffff;
    if (syscall(SYS_rt_sigprocmask, ~0, address, nullptr, 8) == -1 && errno == EFAULT) return false;
    return syscall(SYS_sched_setaffinity, no_process, 8ul, address) != -1 || errno != EFAULT;
}

} // namespace

bool copy_memory(void* to, const void* from, std::size_t bytes) noexcept {
    const int saved = errno;
    const iovec there{const_cast<void*>(from), bytes}, here{to, bytes};
    const long copied = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &here, 1ul, &there, 1ul, 0ul);
    bool is_there = copied == static_cast<long>(bytes);
    if (copied < 0 && errno != EFAULT) {
        is_there = is_readable(from) && is_readable(static_cast<const char*>(from) + bytes - sizeof(long));
        if (is_there) std::memcpy(to, from, bytes);
    }
    errno = saved;
    return is_there;
}

} // namespace libprofile
