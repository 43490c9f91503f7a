#include "libprofile/base/clock_id.hpp"

#include "format/fnv.hpp"
#include "libprofile/base/hashing.hpp"
#include "libprofile/base/small_file.hpp"

#include <sys/stat.h>

namespace libprofile {

std::uint64_t monotonic_clock_id() noexcept {
    char boot[64];
    const ssize_t size = read_small_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    if (size <= 0) return 0;
    struct stat time_namespace {};
    if (stat("/proc/self/ns/time", &time_namespace) != 0) time_namespace.st_ino = 0; // a kernel that has none
    const std::uint64_t id = mix(fnv1a(boot, static_cast<std::size_t>(size)) ^ mix(time_namespace.st_ino)) >> 1;
    return id == 0 ? 1 : id;
}

} // namespace libprofile
