// The length of an instruction and what it does to the flow of control. One implementation per architecture (code/arch).
// Contract: pure; async-signal-safe; reads at most `limit` bytes. Conservative: an instruction that is not certain (privileged, obsolete or newer
// than AVX-512) is Unknown, and the bytes after it say nothing.
// Source for x86-64: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

struct Instruction {
    enum class Kind : std::uint8_t {
        Unknown,
        Plain,       // goes on to the next
        Nop,         // the same, without effect
        Jump,        // to target
        Branch,      // to target or on
        ShortBranch, // the same, with an eight-bit distance only (loop, jrcxz)
        Call,        // of target
        IndirectCall,
        IndirectJump,
        End, // return, ud2, hlt: does not go on
    };
    Kind kind = Kind::Unknown;
    std::uint8_t length = 0;
    std::uint8_t displacement_at = 0; // offset of the four bytes of an operand relative to the instruction pointer, 0 if there is none
    std::uint8_t condition = 0;       // of a Branch: the lower half of its opcode
    std::uintptr_t target = 0;
    /// Address of the operand at displacement_at; of Plain, IndirectCall and IndirectJump.
    std::uintptr_t operand = 0;
    /// Absolute address, of four bytes, in an operand with an index and no base: a table of addresses. 0 if there is none.
    std::uintptr_t table = 0;
};

Instruction decode(std::uintptr_t address, std::size_t limit) noexcept;
/// Whether an IndirectJump goes through a register or a table (`jmp *%reg`, `jmp *(base,index,scale)`), as those of a switch do.
bool is_table_jump(std::uintptr_t at, const Instruction& instruction) noexcept;
/// Whether the instruction returns. Other ends (ud2, hlt) end the program.
bool is_return(std::uintptr_t at, const Instruction& instruction) noexcept;

} // namespace libprofile
