// The registers of interrupted code with which a walk over the stack begins.
// Contract: reads a ucontext_t, as signal handlers get it; async-signal-safe.
#pragma once

#include <cstdint>
#include <ucontext.h>

namespace libprofile {

struct Registers {
    std::uintptr_t instruction;
    std::uintptr_t stack;
    std::uintptr_t frame;
    std::uintptr_t base; // from which some functions find their frame: rbx
};

inline Registers registers_of(const void* context) noexcept {
#if defined(__x86_64__)
    const greg_t* registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    const auto value = [registers](int index) { return static_cast<std::uintptr_t>(registers[index]); };
    return {value(REG_RIP), value(REG_RSP), value(REG_RBP), value(REG_RBX)};
#else
#error "which registers hold these on this architecture?"
#endif
}

} // namespace libprofile
