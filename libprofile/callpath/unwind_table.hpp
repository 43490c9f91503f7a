// Finds the unwind entry (FDE, with its CIE) of an address in a module's .eh_frame.
// Contract: async-signal-safe, no lock, no allocation; reads only [start, end) of the given section. The number of steps is bounded: a
// binary search if the module has the usual sorted table, else a walk of limited length.
// Source: Linux Standard Base, sections 10.6.1 (.eh_frame) and 10.6.2 (.eh_frame_hdr).
#pragma once

#include "libprofile/base/dwarf_cursor.hpp"
#include "libprofile/base/loaded_objects.hpp"

#include <cstdint>

namespace libprofile {

/// Readable memory: a loaded segment of a module, from which [start, end) is taken.
struct UnwindSection {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    std::uintptr_t header = 0; // .eh_frame_hdr, inside of it
};

struct UnwindEntry {
    std::uintptr_t start = 0; // of the code it describes
    std::uintptr_t end = 0;
    DwarfCursor common_program; // of the CIE: the state on entry
    DwarfCursor program;
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint64_t return_address_register = 0;
    std::uintptr_t personality = 0;                     // 0 if none
    std::uintptr_t exceptions = 0;                      // the language's own table for these addresses, 0 if none
    std::uint8_t encoding = pointer_encoding::absolute; // of code addresses
    std::uint8_t exceptions_encoding = pointer_encoding::omitted;
    bool personality_is_indirect = false;
    bool is_signal_frame = false;
    bool has_augmentation_size = false;
    bool is_signed_by_key_b = false; // the return address, where it is signed (AArch64)
    bool is_exceptions_known = true; // `exceptions` could be read
};

enum class EntrySearch : std::uint8_t { Found, Missing, Damaged };

/// Finds the readable segment of a loaded module that holds `address`. Returns false if there is no module, or a hole in it.
bool find_segment(std::uintptr_t address, UnwindSection& segment) noexcept;
/// The same of an object that is already known to be the address's.
bool find_segment(const LoadedObject& object, std::uintptr_t address, UnwindSection& segment) noexcept;
/// Finds the section of the module that holds the code at `address`. Returns false if there is no module or no unwind information.
bool find_unwind_section(std::uintptr_t address, UnwindSection& section) noexcept;
EntrySearch find_unwind_entry(const UnwindSection& section, std::uintptr_t address, UnwindEntry& entry) noexcept;

} // namespace libprofile
