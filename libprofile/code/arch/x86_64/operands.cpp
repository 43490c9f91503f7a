#include "libprofile/code/arch/x86_64/operands.hpp"

#include <cstring>

namespace libprofile {

namespace {

constexpr std::uint8_t stack_pointer = 4;

/// Whether a ModRM byte follows. Only asked about opcodes with known effects.
bool takes_modrm(std::uint16_t opcode) {
    if (opcode >= 0x0f00) return opcode != 0x0f0b && (opcode < 0x0f80 || opcode > 0x0f8f) && opcode != 0x0f05 && opcode != 0x0f31 && opcode != 0x0fa2;
    if (opcode < 0x40) return (opcode & 7) < 4;
    return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b || (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc6 ||
           opcode == 0xc7 || (opcode >= 0xd0 && opcode <= 0xd3) || opcode == 0xf6 || opcode == 0xf7 || opcode == 0xfe || opcode == 0xff;
}

std::int64_t number_at(std::uintptr_t address, unsigned size) {
    if (size == 1) return *reinterpret_cast<const signed char*>(address);
    std::int32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

/// Opcodes after 0f that write no general register and leave the flags.
bool is_vector(std::uint16_t opcode) {
    const unsigned last = opcode & 0xff;
    if (last == 0x2c || last == 0x2d || last == 0x2e || last == 0x2f || last == 0x50 || last == 0x7e || last == 0xc5 || last == 0xd7) return false;
    return (last >= 0x10 && last <= 0x17) || (last >= 0x28 && last <= 0x2f) || (last >= 0x51 && last <= 0x76) || last == 0x7f || last == 0xc6 ||
           (last >= 0xd0 && last <= 0xfe);
}

} // namespace

Operands read_operands(std::uintptr_t address, const Instruction& instruction) noexcept {
    const auto* code = reinterpret_cast<const unsigned char*>(address);
    const std::uintptr_t end = address + instruction.length;
    Operands out;
    std::size_t at = 0;
    const auto has = [&](std::size_t bytes) { return at + bytes <= instruction.length; };
    for (; has(1); ++at) {
        const unsigned char byte = code[at];
        if (byte == 0x66 || byte == 0xf2 || byte == 0xf3)
            out.has_prefix = true;
        else if (byte == 0x64 || byte == 0x65 || byte == 0x67 || byte == 0xf0) { // other segments and sizes of addresses
            out.opcode = 0xffff;
            return out;
        } else if (byte != 0x26 && byte != 0x2e && byte != 0x36 && byte != 0x3e)
            break;
    }
    unsigned rex = 0;
    if (has(1) && (code[at] & 0xf0) == 0x40) rex = code[at++];
    out.has_rex = rex != 0;
    out.is_wide = (rex & 8) != 0;
    out.opcode = has(1) ? code[at++] : 0xffff;
    if (out.opcode == 0x0f) out.opcode = has(1) ? static_cast<std::uint16_t>(0x0f00 + code[at++]) : 0xffff;
    if (out.opcode == 0x62 || out.opcode == 0xc4 || out.opcode == 0xc5 || out.opcode == 0x0f38 || out.opcode == 0x0f3a) out.opcode = 0xffff;
    if (out.opcode == 0xffff || !takes_modrm(out.opcode)) {
        if ((out.opcode & 0xfff8) == 0xb8 || (out.opcode & 0xfff0) == 0x50) out.rm = static_cast<std::uint8_t>((out.opcode & 7) + (rex << 3 & 8));
        if (out.opcode == 0x3c && has(1)) out.immediate = number_at(address + at, 1);
        if (out.opcode == 0x3d && !out.has_prefix && has(4)) out.immediate = number_at(address + at, 4);
        return out;
    }
    out.opcode = has(1) ? out.opcode : 0xffff;
    if (out.opcode == 0xffff) return out;
    const unsigned modrm = code[at++];
    out.reg = static_cast<std::uint8_t>((modrm >> 3 & 7) + (rex << 1 & 8));
    const unsigned mode = modrm >> 6;
    if (mode == 3) {
        out.is_register = true;
        out.rm = static_cast<std::uint8_t>((modrm & 7) + (rex << 3 & 8));
    } else {
        Operands::Memory& memory = out.memory;
        unsigned displacement = mode == 1 ? 1 : mode == 2 ? 4 : 0;
        memory.base = static_cast<std::uint8_t>((modrm & 7) + (rex << 3 & 8));
        if ((modrm & 7) == 4 && has(1)) {
            const unsigned sib = code[at++];
            memory.base = static_cast<std::uint8_t>((sib & 7) + (rex << 3 & 8));
            memory.index = static_cast<std::uint8_t>((sib >> 3 & 7) + (rex << 2 & 8));
            memory.scale = static_cast<std::uint8_t>(1u << (sib >> 6));
            if (memory.index == stack_pointer) memory.index = Operands::none;
            if (mode == 0 && (sib & 7) == 5) {
                memory.base = Operands::none;
                displacement = 4;
            }
        } else if (mode == 0 && (modrm & 7) == 5) {
            memory.base = Operands::none;
            memory.is_relative = true;
            displacement = 4;
        }
        if (!has(displacement)) {
            out.opcode = 0xffff;
            return out;
        }
        if (displacement != 0) memory.displacement = number_at(address + at, displacement);
        if (memory.is_relative) memory.displacement += static_cast<std::int64_t>(end);
        at += displacement;
    }
    if ((out.opcode == 0x80 || out.opcode == 0x83) && has(1)) out.immediate = number_at(address + at, 1);
    if (out.opcode == 0x81 && has(4)) out.immediate = number_at(address + at, 4);
    return out;
}

Effects effects_of(const Operands& operands) noexcept {
    const std::uint16_t opcode = operands.opcode;
    const std::uint8_t rm = operands.is_register ? operands.rm : Operands::none;
    const auto writes = [](std::uint8_t reg) { return Effects{true, false, reg}; };
    const auto computes = [](std::uint8_t reg) { return Effects{true, true, reg}; };
    if (opcode < 0x40 && (opcode & 7) < 4) { // arithmetic; 38 to 3b compare
        if (opcode >= 0x38) return computes(Operands::none);
        const bool is_byte = (opcode & 1) == 0;
        return is_byte && !operands.has_rex ? Effects{} : computes((opcode & 2) != 0 ? operands.reg : rm); // without REX: perhaps ah
    }
    if (opcode == 0x3c || opcode == 0x3d) return computes(Operands::none);
    if (opcode >= 0x58 && opcode <= 0x5f) return {}; // pop changes two registers
    if (opcode >= 0xb8 && opcode <= 0xbf) return writes(operands.rm);
    if (opcode >= 0x0f40 && opcode <= 0x0f4f) return writes(operands.reg);
    if (opcode > 0x0f00 && opcode < 0x1000 && is_vector(opcode)) return writes(Operands::none);
    switch (opcode) {
    case 0x63:
    case 0x8b:
    case 0x8d:
    case 0x0fb6:
    case 0x0fb7:
    case 0x0fbe:
    case 0x0fbf:
    case 0x0f2c:
    case 0x0f2d:
    case 0x0f50:
    case 0x0fd7: return writes(operands.reg);
    case 0x89:
    case 0xc7:
    case 0x0f7e: return writes(rm);
    case 0x88:
    case 0xc6: return operands.is_register ? Effects{} : writes(Operands::none);
    case 0x90: return operands.has_rex ? Effects{} : writes(Operands::none); // else xchg
    case 0x0f1e:
    case 0x0f1f: return writes(Operands::none);
    case 0x98: return writes(0);
    case 0x69:
    case 0x6b:
    case 0x0faf: return computes(operands.reg);
    case 0x81:
    case 0x83: return computes(operands.digit() == 7 ? Operands::none : rm);
    case 0x80: return operands.digit() == 7 || !operands.is_register ? computes(Operands::none) : Effects{};
    case 0xc1:
    case 0xd1:
    case 0xd3: return computes(rm);
    case 0x84:
    case 0x85:
    case 0x0f2e:
    case 0x0f2f: return computes(Operands::none);
    default: return {};
    }
}

} // namespace libprofile
