// The operands of an x86-64 instruction, as far as the code of a switch needs them.
// Contract: pure; async-signal-safe; for an instruction that decode() understands, of which it reads no more bytes.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A.
#pragma once

#include "libprofile/code/instruction.hpp"

namespace libprofile {

struct Operands {
    static constexpr std::uint8_t none = 0xff;

    /// An address: base + index * scale + displacement.
    struct Memory {
        std::uint8_t base = none, index = none, scale = 1;
        bool is_relative = false; // displacement is an address: it was relative to the instruction pointer
        std::int64_t displacement = 0;
        bool operator==(const Memory&) const = default;
        bool uses(std::uint8_t reg) const { return base == reg || index == reg; }
    };

    std::uint16_t opcode = 0; // two-byte ones: 0x0f00 + the second; 0xffff: of another table
    bool is_wide = false;     // REX.W
    bool has_rex = false;
    bool has_prefix = false; // 66, f2 or f3
    std::uint8_t reg = 0;    // of ModRM; also the digit that extends an opcode
    bool is_register = false;
    std::uint8_t rm = none; // if is_register
    Memory memory;          // if not
    std::int64_t immediate = 0;

    std::uint8_t digit() const { return reg & 7; }
};

/// Reads the operands of the instruction at `address`.
Operands read_operands(std::uintptr_t address, const Instruction& instruction) noexcept;

/// What an instruction does to registers, apart from what it computes.
struct Effects {
    bool is_known = false; // else it may write any register
    bool sets_flags = false;
    std::uint8_t written = Operands::none; // a general register
};
Effects effects_of(const Operands& operands) noexcept;

} // namespace libprofile
