// Reads a module's unwind information (.eh_frame) and returns the recipe for one address.
//
// Contract: async-signal-safe and thread-safe: no lock, no allocation, no system call. The module is found through
// find_loaded_object(). Reads only memory inside the module that holds the address. Damaged information gives Hard or Missing, never
// a fault or an endless loop.
// Source: the DWARF standard, version 5, section 6.4, and the Linux Standard Base, section 10.6 (.eh_frame, .eh_frame_hdr).
#pragma once

#include "libprofile/callpath/recipe.hpp"

#include <cstdint>

namespace libprofile {

/// The recipe for a frame at look-up address `address`: the interrupted instruction, or a return address - 1. Sets the flag
/// ForeignPersonality if it applies; the caller adds the flags of modules.
Recipe read_unwind_info(std::uintptr_t address) noexcept;

/// The same with unwind information that is already known (unwind_table.hpp).
struct UnwindSection;
Recipe read_unwind_info(const UnwindSection& section, std::uintptr_t address) noexcept;

} // namespace libprofile
