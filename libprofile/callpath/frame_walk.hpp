// Walks the calling thread's own stack by recipes (recipe.hpp): some 6 ns a frame.
// Contract: async-signal-safe: no lock, no system call, no allocation but that of the recipe table; reads only between the
// given stack pointer and the base of the thread's own stack, so it never faults. The stack pointer must grow from frame
// to frame, so it always ends.
#pragma once

#include "libprofile/callpath/raw_path.hpp"

#include <cstdint>

namespace libprofile {

/// Where a walk begins. The frame at `address` has the given registers; `slot` is where `address` + 1 was found as a return
/// address (0: it is the interrupted instruction).
struct WalkStart {
    std::uintptr_t address = 0;
    std::uintptr_t slot = 0;
    std::uintptr_t stack_pointer = 0;
    std::uintptr_t frame_pointer = 0;
    std::uintptr_t frame_pointer_place = 0; // where that was read from; 0: it is the register's
    std::uintptr_t rbx = 0;                 // of an interrupted frame; 0: not known
};

/// Fills `path`. Ends at a return address that is the mark's stub: `Mark` if it lies in `mark_slot`, else Lost,
/// unless it is known what belongs there.
void walk_stack(const WalkStart& start, std::uintptr_t mark_slot, RawPath& path) noexcept;

} // namespace libprofile
