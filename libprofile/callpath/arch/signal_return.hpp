// Where signal handlers return to, if that has no unwind information.
// Contract: async-signal-safe; asks the kernel for memory that may not be there.
#pragma once

#if defined(__aarch64__)
#include "libprofile/callpath/stack_memory.hpp"
#endif

#include <cstdint>

namespace libprofile {

#if defined(__aarch64__)
/// The kernel's own code: mov x8, 139 (rt_sigreturn); svc 0. Unwinders know it by these instructions.
inline bool is_signal_return(std::uintptr_t address) noexcept {
    std::uintptr_t code = 0;
    return address % 4 == 0 && read_stack_word(address, &code) && code == 0xd4000001d2801168;
}
#else
inline bool is_signal_return(std::uintptr_t) noexcept { return false; } // the C library's
#endif

} // namespace libprofile
