#include "libprofile/callpath/mark.hpp"

#include <csetjmp>
#include <sys/prctl.h>

namespace libprofile {

bool are_marks_possible() noexcept {
    // PR_GET_SHADOW_STACK_STATUS: with a guarded control stack, a changed return address would end the program.
    constexpr int shadow_stack_status = 74;
    unsigned long status = 0;
    return prctl(shadow_stack_status, &status, 0, 0, 0) != 0 || (status & 1) == 0;
}

/// glibc keeps the stack pointer in word 13, mixed with a secret of the process (sysdeps/aarch64/setjmp.S), which a jump buffer of our own tells.
std::uintptr_t longjmp_target(const void* environment) noexcept {
    constexpr unsigned stack_word = 13;
    std::uintptr_t own = 0;
    jmp_buf buffer;
    _setjmp(buffer);
    __asm__ volatile("mov %0, sp" : "=r"(own));
    std::uintptr_t kept[2];
    __builtin_memcpy(&kept[0], reinterpret_cast<const char*>(&buffer) + stack_word * 8, 8);
    __builtin_memcpy(&kept[1], static_cast<const char*>(environment) + stack_word * 8, 8);
    return kept[1] ^ kept[0] ^ own;
}

} // namespace libprofile
