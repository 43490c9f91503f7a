// The frames of functions without unwind information (kernels of linear algebra written in assembler), derived from their first
// instructions: what they put on the stack, and the register that keeps the stack pointer before it is aligned.
//
// Contract: async-signal-safe, lock-free, no allocation; reads only the module's own code and symbol table. A function is looked up in the
// module's dynamic symbols once (about 50 us for 15,000 symbols) and then remembered. The result holds between prologue and epilogue.
// Callers check that the return address it leads to follows a call.
#pragma once

#include "libprofile/callpath/arch/prologue.hpp"

#include <cstdint>

namespace libprofile {

/// Returns false if no dynamic symbol covers `address`, or its function begins with other instructions.
bool find_code_frame(std::uintptr_t address, CodeFrame& frame) noexcept;

/// Returns true if a call instruction ends at `address`, so that it can be a return address.
bool follows_call(std::uintptr_t address) noexcept;

} // namespace libprofile
