// Finds the caller of code without unwind information (hand-written assembler, code made at run time): searches the stack for its
// return address.
// Contract: async-signal-safe, no lock, no system call; reads only the stack between `stack_pointer` and `base`, and code of loaded modules.
// The result is likely, not certain: paths that used it are tagged (RawPath::bridged).
// After Tallent, Mellor-Crummey and Fagan, "Binary analysis for measurement and attribution of program performance" (2009),
// section 4: a candidate must follow a call instruction, and so must the return address of the frame it leads to.
#pragma once

#include <cstdint>

namespace libprofile {

/// Returns the canonical frame address (return slot + 8) of the frame at `address`, or 0 if none was found.
std::uintptr_t search_stack(std::uintptr_t address, std::uintptr_t stack_pointer, std::uintptr_t frame_pointer, std::uintptr_t base) noexcept;

} // namespace libprofile
