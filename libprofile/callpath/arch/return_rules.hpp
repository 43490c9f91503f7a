// Where a frame's return address and its caller's frame pointer lie: from unwind information to a recipe, and from a recipe to the stack.
// One implementation per architecture (arch/ARCHITECTURE/return_rules.hpp).
//
// Contract: async-signal-safe; allocates nothing.
//   read_return_rules(row, cfa_offset, recipe, frame_offset)   completes a recipe whose kind is known; false: no recipe can say it
//   find_return(recipe, frame, cfa)                            the places; of a recipe of kind Stack, Frame or FrameIndirect
#pragma once

#if defined(__x86_64__)
#include "libprofile/callpath/arch/x86_64/return_rules.hpp"
#else
#include "libprofile/callpath/arch/aarch64/return_rules.hpp"
#endif
