// What an instruction does to registers, as far as compilers use it to compute an address in a table.
// Contract: pure. The instruction is one that the decoder understands. What is not listed here is Other, with every general register that it
// may write.
// Source for x86-64: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
#pragma once

#include "tools/code/elf_code.hpp"

#include <cstdint>

namespace libprofile::tools {

struct Operand {
    enum class Kind : std::uint8_t { None, Register, Immediate, Memory };
    static constexpr std::uint8_t none = 0xff;

    Kind kind = Kind::None;
    std::uint8_t base = none;  // of Memory; the register of Register
    std::uint8_t index = none; // of Memory
    std::uint8_t scale = 1;    // of the index
    bool is_segment = false;   // memory of the thread, at no address that is known
    std::int64_t value = 0;    // immediate, displacement, or the address if the base is the instruction pointer
};

struct Operation {
    enum class Kind : std::uint8_t {
        Other,
        Nothing,  // no general register, memory or flag
        Move,     // to = from, the upper half of a 64-bit register becomes 0
        MoveZero, // the same from fewer bytes, with zeros above
        MoveSign, // with the sign above
        Address,  // to = the address of from
        Add,
        Subtract,
        And,
        Clear, // to = 0
        Compare,
        ShiftLeft,
        ShiftRight, // with zeros
        Push,
        Pop,
        Leave,
    };
    Kind kind = Kind::Other;
    std::uint8_t size = 4;      // bytes of the result
    std::uint8_t from_size = 4; // bytes that are read
    bool keeps_flags = false;
    Operand to, from;
    std::uint32_t written = 0; // bits of registers that Other may write
    Operand memory;            // that Other may write
    std::uint8_t memory_size = 8;
};

Operation operation_of(const CodeAt& code);
/// The operand of an indirect jump or call.
Operand target_of(const CodeAt& code);

} // namespace libprofile::tools
