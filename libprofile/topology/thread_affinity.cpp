#include "libprofile/topology/thread_affinity.hpp"

#include "libprofile/topology/machine.hpp"

#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

void ThreadAffinity::remember_allowed(pid_t thread, Arena& arena) noexcept {
    constexpr std::uint32_t most_words = Machine::most_processors / 64;
    std::uint64_t mask[most_words] = {};
    // The plain system call returns the bytes of the kernel's mask. The C library's function returns none and fills the rest of the buffer.
    const long bytes = syscall(SYS_sched_getaffinity, thread, sizeof mask, mask);
    if (bytes <= 0) return;
    std::uint32_t words = static_cast<std::uint32_t>(bytes) / 8 < most_words ? static_cast<std::uint32_t>(bytes) / 8 : most_words;
    while (words != 0 && mask[words - 1] == 0) --words;
    if (words > words_ || allowed_ == nullptr) {
        auto* fresh = arena.array<std::uint64_t>(words);
        if (fresh == nullptr) return;
        allowed_ = fresh;
    }
    std::memcpy(allowed_, mask, words * sizeof *mask);
    words_ = words;
}

} // namespace libprofile
