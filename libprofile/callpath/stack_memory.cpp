#include "libprofile/callpath/stack_memory.hpp"

#include "libprofile/session/thread.hpp"

#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace libprofile {

void remember_stack_base() noexcept {
    // Above the thread's first frame lie its thread descriptor and thread-local storage; above main's lie arguments and
    // environment. A few words of those may be read, no more are needed.
    constexpr std::uintptr_t above = 512;
    thread_local_block.stack_base = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + above;
}

bool read_stack_word(std::uintptr_t address, std::uintptr_t* value) noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::uintptr_t base = thread_local_block.stack_base;
    if (address > here && address < base && base - address >= sizeof *value) {
        std::memcpy(value, reinterpret_cast<const void*>(address), sizeof *value);
        return true;
    }
    iovec to{value, sizeof *value};
    iovec from{reinterpret_cast<void*>(address), sizeof *value};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof *value);
}

} // namespace libprofile
