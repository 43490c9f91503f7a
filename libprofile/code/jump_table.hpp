// Jumps through registers and tables: those of a switch, and calls at the end of a function.
//
// Contract: async-signal-safe; allocates nothing; reads only constants of loaded modules. One implementation per architecture (code/arch). Conservative:
// only what compilers make of a switch is recognised: an index that was compared with a constant chooses an entry of a constant table.
#pragma once

#include "libprofile/code/instruction.hpp"

namespace libprofile {

struct JumpTable {
    static constexpr std::uint32_t most_entries = 1024;

    std::uintptr_t address = 0;
    std::uint32_t entries = 0;
    bool is_relative = false; // x86-64: entries are distances from the table, of four bytes; else addresses
    // AArch64: entries are distances, in instructions.
    std::uint8_t bytes = 4; // of an entry
    bool is_signed = false;
    std::uintptr_t counted_from = 0;

    /// Where entry `number` leads to.
    std::uintptr_t target(std::uint32_t number) const noexcept;
};

/// Finds the table of the jump that is the last of `count` successive instructions. Only the first of them may be jumped to. Returns false if it is not
/// recognised.
bool find_jump_table(const std::uintptr_t* instructions, std::uint32_t count, JumpTable& table) noexcept;
/// Whether that jump is a call at the end of the function: its frame is gone, and what the register holds was not computed from a table.
bool is_tail_call(const std::uintptr_t* instructions, std::uint32_t count) noexcept;

} // namespace libprofile
