// Where a frame ends: the caller's stack pointer at the call, which is what the stack pointer is when the function has returned. One implementation
// per architecture (arch/ARCHITECTURE/frame_end.hpp).
//
// Where the return address lies always in the same place below it, nothing is kept, and all of this costs nothing. Elsewhere a jump at the end of a
// function moves the return address: the function has loaded it into its register, and the next one saves it in a place of its own. The end stays.
//
// Contract: plain data.
//   FrameEnd::at(stack)       the frame ends there
//   FrameEnd::of(slot)        where it does; `slot`: of its return address, 0 if there is no frame (then the result is no frame's)
//   FrameEnds                 those of the frames of a RawPath: set(index, stack), and [index]
//   FoundMark                 where a walk has met the mark: its slot, 0 if it is in its register where the walk begins; and whether the function that
//                             has it was interrupted, so that it may be both in the register and in the slot
#pragma once

#if defined(__x86_64__)
#include "libprofile/callpath/arch/x86_64/frame_end.hpp"
#else
#include "libprofile/callpath/arch/aarch64/frame_end.hpp"
#endif
