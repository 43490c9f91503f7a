#include "libprofile/callpath/stack_memory.hpp"

#include "libprofile/base/safe_copy.hpp"
#include "libprofile/callpath/thread_block.hpp"

#include <cstring>
#include <sys/resource.h>

extern "C" void* __libc_stack_end; // in ld.so: where the process's stack began

namespace libprofile {

void remember_stack(std::uintptr_t size) noexcept {
    // The thread descriptor and thread-local storage lie above the thread's first frame; parts of them may be read.
    constexpr std::uintptr_t above = 512;
    thread_local_block.stack_base = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + above;
    thread_local_block.stack_low = thread_local_block.stack_base - size;
}

void remember_main_stack() noexcept {
    constexpr std::uintptr_t most = 64 << 20; // the loader keeps at least this much free below an unlimited stack
    rlimit limit{};
    const bool known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most;
    thread_local_block.stack_base = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
    thread_local_block.stack_low = thread_local_block.stack_base - (known ? limit.rlim_cur : most);
}

bool read_stack_word(std::uintptr_t address, std::uintptr_t* value) noexcept {
    // Everything between a live frame and the base of its stack is mapped.
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (is_own_stack(here) && address > here && is_own_stack(address + sizeof *value - 1)) {
        std::memcpy(value, reinterpret_cast<const void*>(address), sizeof *value);
        return true;
    }
    return copy_memory(value, reinterpret_cast<const void*>(address), sizeof *value);
}

} // namespace libprofile
