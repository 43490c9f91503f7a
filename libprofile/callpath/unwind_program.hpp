// Runs the call-frame instructions of an unwind entry up to one address, and returns the rules that hold there.
// Contract: async-signal-safe, no lock, no allocation; reads only what the entry's cursors cover; bounded in steps and stack.
// Source: DWARF 5, section 6.4.2.
#pragma once

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/unwind_table.hpp"

#include <cstdint>

namespace libprofile {

/// How to get one register of the caller, or the CFA.
struct UnwindRule {
    enum class Kind : std::uint8_t { Unspecified, Undefined, Same, AtCfa, Register, Expression, Other };
    Kind kind = Kind::Unspecified;
    std::uint32_t number = 0; // the register, or the size of the expression
    std::int64_t value = 0;   // the offset, or where the expression lies
};

/// The rules at one address, for the registers that a call path needs.
struct UnwindRow {
    UnwindRule cfa; // Register (plus an offset) or Expression
    UnwindRule frame_pointer;
    UnwindRule stack_pointer;
    UnwindRule return_address;
    bool is_signed = false; // the return address

    /// Returns nullptr for a register that does not matter.
    UnwindRule* of(std::uint64_t number) {
        switch (number) {
        case unwind_register::frame_pointer: return &frame_pointer;
        case unwind_register::stack_pointer: return &stack_pointer;
        case unwind_register::return_address: return &return_address;
        default: return nullptr;
        }
    }
};

/// Finds the row at `address`, which lies in the entry's code. Returns false for damaged data or an unknown instruction.
bool run_unwind_program(const UnwindEntry& entry, std::uintptr_t address, UnwindRow& row) noexcept;

} // namespace libprofile
