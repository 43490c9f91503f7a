// See arch/machine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ucontext.h>

#define LIBPROFILE_OWN_FRAME __builtin_frame_address(0)
#define LIBPROFILE_STACK_OF_CALLER (static_cast<char*>(__builtin_frame_address(0)) + 16)

namespace libprofile {

struct Registers {
    std::uintptr_t instruction;
    std::uintptr_t stack;
    std::uintptr_t frame;
    std::uintptr_t extra; // rbx: some functions find their frame from it
};

inline Registers registers_of(const void* context) noexcept {
    const greg_t* registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    const auto value = [registers](int index) { return static_cast<std::uintptr_t>(registers[index]); };
    return {value(REG_RIP), value(REG_RSP), value(REG_RBP), value(REG_RBX)};
}
constexpr std::uintptr_t context_offset = 0;
constexpr std::uintptr_t extra_offset = offsetof(ucontext_t, uc_mcontext) + sizeof(greg_t) * REG_RBX;

/// The handle is rbp.
inline std::uintptr_t return_slot(std::uintptr_t frame) noexcept { return frame + 8; }
inline std::uintptr_t frame_pointer_slot(std::uintptr_t frame) noexcept { return frame; }
inline std::uintptr_t stack_of_caller(std::uintptr_t frame) noexcept { return frame + 16; }

inline std::uintptr_t code_address(std::uintptr_t word) noexcept { return word; }
inline std::uintptr_t stored_return(std::uintptr_t, std::uintptr_t address) noexcept { return address; }
inline std::uintptr_t slot_below(std::uintptr_t stack) noexcept { return stack - 8; }

/// System V ABI for x86-64, figure 3.36.
namespace unwind_register {
constexpr std::uint64_t frame_pointer = 6;   // rbp
constexpr std::uint64_t stack_pointer = 7;   // rsp
constexpr std::uint64_t return_address = 16; // rip
constexpr std::uint64_t largest = 16;
} // namespace unwind_register
constexpr bool has_fixed_return_slot = true;
constexpr bool has_signed_returns = false;
constexpr std::uintptr_t largest_code_address = (std::uintptr_t{1} << 47) - 1;

constexpr const char* missing_here = "";

inline bool is_system_call(std::uintptr_t code) noexcept {
    constexpr std::uintptr_t page = 4096; // memory before it may not be mapped
    if (code % page < 2) return false;
    const auto* bytes = reinterpret_cast<const unsigned char*>(code);
    return bytes[-2] == 0x0f && bytes[-1] == 0x05;
}

} // namespace libprofile
