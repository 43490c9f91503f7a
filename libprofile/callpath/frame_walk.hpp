// Walks the calling thread's own stack by recipes (recipe.hpp): about 6 ns a frame.
// Contract: async-signal-safe: no lock, no system call, no allocation except the recipe table's. Reads only between the given stack pointer
// and the base of the thread's own stack, so it never faults. The stack pointer must grow from frame to frame, so the walk always ends.
#pragma once

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/arch/mark_stub.hpp"
#include "libprofile/callpath/raw_path.hpp"

#include <cstdint>

namespace libprofile {

/// The start of a walk. The frame at `address` has the given registers. `slot` is where `address` + 1 was found as a return address
/// (0 for an interrupted instruction).
struct WalkStart {
    std::uintptr_t address = 0;
    std::uintptr_t slot = 0;
    std::uintptr_t stack_pointer = 0;
    std::uintptr_t frame_pointer = 0;
    std::uintptr_t frame_pointer_slot = 0; // where that was read from; 0 for the register
    std::uintptr_t extra = 0;              // Registers::extra of an interrupted frame; 0 if unknown
};

/// The frame that called the wrapper body with the frame `frame`.
inline WalkStart calling_frame(std::uintptr_t frame) noexcept {
    const std::uintptr_t fp_slot = frame_pointer_slot(frame);
    return {return_address_of(frame) - 1, return_slot(frame), stack_of_caller(frame), *reinterpret_cast<const std::uintptr_t*>(fp_slot), fp_slot, 0};
}

/// The frame that a signal interrupted; `context` is the handler's third argument.
WalkStart interrupted_frame(void* context) noexcept;

/// Fills `path`. A return address that is the mark's stub ends the walk: `Mark` if it is that of the frame that ends at `mark_end`, else `Lost`. A lost
/// mark whose return address is known does not end it.
void walk_stack(const WalkStart& start, std::uintptr_t mark_end, RawPath& path) noexcept;

/// How the return address of the frame at `address` is signed, which has these flags of its recipe.
Signing return_signing(std::uintptr_t address, std::uint8_t flags) noexcept;

struct Mark;
/// find_marks_outside() (mark.hpp) from any frame of the thread on.
bool find_marks(Mark& mark, const WalkStart& start) noexcept;

} // namespace libprofile
