// Return addresses are not marked on AArch64 yet.
#include "libprofile/callpath/mark.hpp"

#include <csetjmp>

namespace libprofile {

bool are_marks_possible() noexcept { return false; }
void place_mark(Mark&, const TrackedFrame*, std::int32_t) noexcept {}
void remove_mark(Mark&, std::uintptr_t) noexcept {}
void restore_losses(const Mark&, std::uintptr_t) noexcept {}
std::uintptr_t lift_mark(Mark&, std::uintptr_t) noexcept { return 0; }
void put_back_mark(Mark&, std::uintptr_t) noexcept {}
void jump_mark(Mark&, std::uintptr_t) noexcept {}

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
