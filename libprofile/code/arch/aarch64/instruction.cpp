// Source: Arm Architecture Reference Manual for A-profile architecture, section C4.1 (A64 instruction set encoding).
#include "libprofile/code/instruction.hpp"

#include <cstring>

namespace libprofile {

namespace {

using Kind = Instruction::Kind;

std::uint32_t code_at(std::uintptr_t address) {
    std::uint32_t code = 0;
    std::memcpy(&code, reinterpret_cast<const void*>(address), sizeof code);
    return code;
}

/// The target of a jump whose distance, in instructions, is in `size` bits from `low` on.
std::uintptr_t target_of(std::uintptr_t address, std::uint32_t code, unsigned low, unsigned size) {
    const std::int32_t distance = static_cast<std::int32_t>(code << (32 - low - size)) >> (32 - size);
    return address + static_cast<std::uintptr_t>(std::intptr_t{distance} * 4);
}

bool is_ret(std::uint32_t code) { return (code & 0xfffffc1f) == 0xd65f0000 || (code & 0xfffffbff) == 0xd65f0bff; } // ret; retaa, retab

/// Of those that change the flow of control, and of system instructions.
Kind kind_of_branch(std::uint32_t code) {
    const std::uint32_t through_register = code & 0xfffffc1f, authenticated = code & 0xfefff800;
    if ((code & 0xfc000000) == 0x14000000) return Kind::Jump;
    if ((code & 0xfc000000) == 0x94000000) return Kind::Call;
    if ((code & 0xff000000) == 0x54000000) return (code & 0xe) == 0xe ? Kind::Jump : Kind::Branch; // b.al
    if ((code & 0x7c000000) == 0x34000000) return Kind::Branch;                                    // cbz, cbnz, tbz, tbnz
    if (through_register == 0xd61f0000 || authenticated == 0xd61f0800) return Kind::IndirectJump;
    if (through_register == 0xd63f0000 || authenticated == 0xd63f0800) return Kind::IndirectCall;
    if (is_ret(code) || (code & 0xffe0001f) == 0xd4200000 || (code & 0xffe0001f) == 0xd4400000) return Kind::End; // brk, hlt
    if (code == 0xd503201f) return Kind::Nop;
    return (code & 0xffe0001f) == 0xd4000001 || (code & 0xff000000) == 0xd5000000 ? Kind::Plain : Kind::Unknown; // svc; hints, barriers, registers
}

Kind kind_of(std::uint32_t code) {
    const unsigned group = (code >> 25) & 0xf;
    if ((group & 0xe) == 0xa) return kind_of_branch(code);
    if (group == 0) return code >> 16 == 0 ? Kind::End : code >> 31 != 0 ? Kind::Plain : Kind::Unknown; // udf; SME
    return group == 1 || group == 3 ? Kind::Unknown : Kind::Plain;
}

} // namespace

Instruction decode(std::uintptr_t address, std::size_t limit) noexcept {
    Instruction instruction;
    if (limit < 4 || address % 4 != 0) return instruction;
    const std::uint32_t code = code_at(address);
    instruction.kind = kind_of(code);
    instruction.length = 4;
    const bool tests_bit = (code & 0x7e000000) == 0x36000000;
    if (instruction.kind == Kind::Call || (code & 0xfc000000) == 0x14000000)
        instruction.target = target_of(address, code, 0, 26);
    else if (instruction.kind == Kind::Branch || instruction.kind == Kind::Jump)
        instruction.target = tests_bit ? target_of(address, code, 5, 14) : target_of(address, code, 5, 19);
    return instruction;
}

bool is_table_jump(std::uintptr_t, const Instruction& instruction) noexcept { return instruction.kind == Kind::IndirectJump; }

bool is_return(std::uintptr_t at, const Instruction& instruction) noexcept { return instruction.kind == Kind::End && is_ret(code_at(at)); }

} // namespace libprofile
