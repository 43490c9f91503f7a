// What a step from one frame of a stack to its caller works with.
// Contract: plain data.
#pragma once

#include <cstdint>

namespace libprofile {

struct WalkedFrame {
    std::uintptr_t address;
    std::uintptr_t sp;
    std::uintptr_t fp;
    std::uintptr_t fp_slot; // where fp was read from, 0 for a register
    std::uintptr_t extra;   // Registers::extra if the frame was interrupted, else 0
};

/// Where the words lie that lead from a frame to its caller.
struct ReturnPlace {
    std::uintptr_t slot = 0;    // of the return address; 0: it is in WalkedFrame::extra
    std::uintptr_t fp_slot = 0; // of the caller's frame pointer; 0: it is unchanged
};

} // namespace libprofile
