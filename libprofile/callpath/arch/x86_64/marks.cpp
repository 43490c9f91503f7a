#include "libprofile/callpath/mark.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

bool are_marks_possible() noexcept {
    // ARCH_SHSTK_STATUS: with a shadow stack, a changed return address would end the program.
    constexpr int shadow_stack_status = 0x5005;
    unsigned long status = 0;
    return syscall(SYS_arch_prctl, shadow_stack_status, &status) != 0 || (status & 1) == 0;
}

/// glibc keeps the stack pointer in word 6, rotated and mixed with a secret of the thread (sysdeps/x86_64/setjmp.S).
std::uintptr_t longjmp_target(const void* environment) noexcept {
    std::uintptr_t target = static_cast<const std::uintptr_t*>(environment)[6];
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(target) : : "cc");
    return target;
}

} // namespace libprofile
