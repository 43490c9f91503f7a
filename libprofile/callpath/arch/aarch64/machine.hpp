// See arch/machine.hpp. Source: Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), DWARF for the Arm 64-bit Architecture.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ucontext.h>

#if defined(__clang__)
#error "on AArch64, Clang does not tell where a frame begins (__builtin_dwarf_cfa); build libprofile with GCC"
#endif

// Frame pointers lead to the frame record, and compilers put that anywhere in a frame. So the handle leads to where both ends are noted.
#define LIBPROFILE_OWN_FRAME ::libprofile::note_frame(__builtin_alloca(2 * sizeof(::libprofile::NotedFrame)), __builtin_frame_address(0), __builtin_dwarf_cfa())
#define LIBPROFILE_STACK_OF_CALLER __builtin_dwarf_cfa()

namespace libprofile {

struct Registers {
    std::uintptr_t instruction;
    std::uintptr_t stack;
    std::uintptr_t frame; // x29
    std::uintptr_t extra; // x30: the return address of functions that have not saved it
};

inline Registers registers_of(const void* context) noexcept {
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
    return {machine.pc, machine.sp, machine.regs[29], machine.regs[30]};
}
constexpr std::uintptr_t context_offset = sizeof(siginfo_t);
constexpr std::uintptr_t extra_offset = offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, regs) + sizeof(std::uint64_t) * 30;

struct NotedFrame {
    std::uintptr_t record; // the caller's x29, and the return address
    std::uintptr_t stack;  // the caller's stack pointer
};
/// Not at the very end, which is the stack pointer of functions without a frame that are called: they are farther inside.
inline void* note_frame(void* room, void* record, void* stack) noexcept {
    NotedFrame* const noted = static_cast<NotedFrame*>(room) + 1;
    *noted = {reinterpret_cast<std::uintptr_t>(record), reinterpret_cast<std::uintptr_t>(stack)};
    return noted;
}
inline std::uintptr_t return_slot(std::uintptr_t frame) noexcept {
    constexpr std::uintptr_t most = 96; // the record lies right above; what a frame that is gone has noted may be overwritten
    const std::uintptr_t record = reinterpret_cast<const NotedFrame*>(frame)->record;
    return record - frame <= most ? record + 8 : frame;
}
inline std::uintptr_t frame_pointer_slot(std::uintptr_t frame) noexcept { return reinterpret_cast<const NotedFrame*>(frame)->record; }
inline std::uintptr_t stack_of_caller(std::uintptr_t frame) noexcept { return reinterpret_cast<const NotedFrame*>(frame)->stack; }

/// XPACLRI: nothing on processors without pointer authentication.
inline std::uintptr_t code_address(std::uintptr_t word) noexcept {
    register std::uintptr_t link __asm__("x30") = word;
    __asm__("hint 0x7" : "+r"(link));
    return link;
}
inline std::uintptr_t stored_return(std::uintptr_t slot, std::uintptr_t address) noexcept {
    const std::uintptr_t word = *reinterpret_cast<const std::uintptr_t*>(slot);
    return code_address(word) == address ? word : address;
}
inline std::uintptr_t slot_below(std::uintptr_t) noexcept { return 0; }

namespace unwind_register {
constexpr std::uint64_t frame_pointer = 29;
constexpr std::uint64_t stack_pointer = 31;
constexpr std::uint64_t return_address = 30;
constexpr std::uint64_t largest = 95; // vector registers
} // namespace unwind_register
constexpr bool has_fixed_return_slot = false;
constexpr bool has_signed_returns = true;
constexpr std::uintptr_t largest_code_address = (std::uintptr_t{1} << 52) - 1;

constexpr const char* missing_here =
    "on AArch64, code is not changed: LIBPROFILE_ITERATION can name MPI calls but no functions, and functions compiled for XRay are not followed";

inline bool is_system_call(std::uintptr_t code) noexcept {
    constexpr std::uintptr_t page = 4096; // memory before it may not be mapped
    if (code % page < 4) return false;
    return (reinterpret_cast<const std::uint32_t*>(code)[-1] & 0xffe0001f) == 0xd4000001; // svc
}

} // namespace libprofile
