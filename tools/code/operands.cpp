#include "tools/code/operands.hpp"

#include <cstring>

namespace libprofile::tools {

namespace {

using Op = Operation::Kind;

constexpr std::uint32_t rax = 1u << 0, rcx = 1u << 1, rdx = 1u << 2, rbx = 1u << 3, rsi = 1u << 6, rdi = 1u << 7, r11 = 1u << 11;

/// Steps over prefixes and reads operands. The decoder has checked that the bytes are there.
class Reader {
  public:
    explicit Reader(const CodeAt& code) : code_(code) {
        for (;; ++at_) {
            const unsigned char byte = code.bytes[at_];
            if (byte == 0x66)
                is_short_ = true;
            else if (byte == 0xf2 || byte == 0xf3)
                is_repeated_ = true;
            else if (byte == 0x64 || byte == 0x65)
                is_segment_ = true;
            else if (byte == 0x67)
                is_address_short_ = true;
            else if (byte != 0x26 && byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0xf0)
                break;
        }
        if ((code.bytes[at_] & 0xf0) == 0x40) rex_ = code.bytes[at_++];
    }

    unsigned char next() { return code_.bytes[at_++]; }
    /// Takes the bits that vector instructions have in prefixes of their own.
    void set_extension(unsigned bits) { rex_ = bits; }
    bool is_wide() const { return (rex_ & 8) != 0; }
    bool is_short() const { return is_short_; }
    bool is_repeated() const { return is_repeated_; }
    bool is_address_short() const { return is_address_short_; }
    std::uint8_t size() const { return is_wide() ? 8 : is_short_ ? 2 : 4; }
    std::uint8_t low_register(unsigned char opcode) const { return static_cast<std::uint8_t>((opcode & 7) | (rex_ & 1) << 3); }

    /// Reads a ModRM byte and what follows it.
    void operands() {
        const unsigned char byte = next();
        digit = (byte >> 3) & 7;
        reg = {Operand::Kind::Register, static_cast<std::uint8_t>(digit | (rex_ & 4) << 1)};
        if (byte >> 6 == 3) {
            rm = {Operand::Kind::Register, low_register(byte)};
            return;
        }
        rm.kind = Operand::Kind::Memory;
        rm.is_segment = is_segment_;
        const unsigned mode = byte >> 6;
        rm.base = low_register(byte);
        if ((byte & 7) == 4) {
            const unsigned char sib = next();
            rm.base = low_register(sib);
            const auto index = static_cast<std::uint8_t>((sib >> 3 & 7) | (rex_ & 2) << 2);
            if (index != 4) {
                rm.index = index;
                rm.scale = static_cast<std::uint8_t>(1u << (sib >> 6));
            }
            if ((sib & 7) == 5 && mode == 0) {
                rm.base = Operand::none;
                rm.value = signed_number(4);
            }
        } else if (mode == 0 && (byte & 7) == 5) {
            rm.base = Operand::none;
            signed_number(4);
            rm.value = static_cast<std::int64_t>(code_.instruction.operand);
        }
        if (mode == 1) rm.value = signed_number(1);
        if (mode == 2) rm.value = signed_number(4);
    }

    std::int64_t signed_number(unsigned size) {
        std::int64_t value = 0;
        std::memcpy(&value, code_.bytes + at_, size);
        at_ += size;
        const unsigned unused = 64 - 8 * size;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
    }
    Operand immediate(unsigned size) { return {Operand::Kind::Immediate, Operand::none, Operand::none, 1, false, signed_number(size)}; }

    /// The operand if it is in memory, else none.
    Operand memory() const { return rm.kind == Operand::Kind::Memory ? rm : Operand(); }

    Operand reg, rm;
    unsigned digit = 0; // the reg field where it is part of the opcode

  private:
    const CodeAt& code_;
    std::size_t at_ = 0;
    unsigned rex_ = 0;
    bool is_short_ = false, is_repeated_ = false, is_segment_ = false, is_address_short_ = false;
};

std::uint32_t bit_of(const Operand& operand) { return operand.kind == Operand::Kind::Register ? 1u << (operand.base & 15) : 0; }

Operation other(std::uint32_t written, const Operand& memory = {}, bool keeps_flags = false) {
    Operation out;
    out.written = written | bit_of(memory);
    if (memory.kind == Operand::Kind::Memory) out.memory = memory;
    out.keeps_flags = keeps_flags;
    return out;
}

Operation binary(Op kind, std::uint8_t size, const Operand& to, const Operand& from) {
    Operation out;
    // What writes a part of a register, or memory, is left to those who forget it.
    if (kind != Op::Compare && (size < 4 || to.kind != Operand::Kind::Register)) {
        if (kind == Op::Move && to.kind == Operand::Kind::Memory) {
            out.kind = kind;
        } else {
            return other(bit_of(to), to.kind == Operand::Kind::Memory ? to : Operand(), kind == Op::Move);
        }
    }
    out.kind = kind;
    out.size = out.from_size = size;
    out.to = to;
    out.from = from;
    out.keeps_flags = kind == Op::Move || kind == Op::Address;
    return out;
}

Operation extension(Op kind, std::uint8_t size, std::uint8_t from_size, const Operand& to, const Operand& from, bool has_rex) {
    if (size < 4 || (from_size == 1 && from.kind == Operand::Kind::Register && from.base >= 4 && !has_rex)) // ah and the like
        return other(bit_of(to), {}, true);
    Operation out = binary(kind, size, to, from);
    out.from_size = from_size;
    out.keeps_flags = true;
    return out;
}

/// The eight arithmetic instructions, by their number in opcodes.
Op arithmetic(unsigned number) {
    switch (number) {
    case 0: return Op::Add;
    case 4: return Op::And;
    case 5: return Op::Subtract;
    case 6: return Op::Clear; // if both operands are the same
    case 7: return Op::Compare;
    default: return Op::Other;
    }
}

Operation arithmetic_of(unsigned number, std::uint8_t size, const Operand& to, const Operand& from) {
    const Op kind = arithmetic(number);
    const bool is_same = to.kind == Operand::Kind::Register && from.kind == to.kind && from.base == to.base;
    if (is_same && (number == 5 || number == 6)) return binary(Op::Clear, size, to, from);
    if (kind == Op::Other || kind == Op::Clear) return other(bit_of(to), to.kind == Operand::Kind::Memory ? to : Operand());
    return binary(kind, size, to, from);
}

/// Vector instructions write general registers in few cases only.
bool vector_writes_register(unsigned map, unsigned opcode) {
    switch (map) {
    case 1: return opcode == 0x50 || opcode == 0x7e || opcode == 0xd7 || opcode == 0xc5 || opcode == 0x2c || opcode == 0x2d || opcode == 0x93;
    case 2: return opcode >= 0xf0;
    case 3: return (opcode >= 0x14 && opcode <= 0x17) || opcode >= 0xf0;
    case 5: return opcode == 0x2c || opcode == 0x2d || opcode == 0x7e;
    default: return false;
    }
}

/// Of a vector instruction.
Operation wide(Operation operation) {
    operation.memory_size = 64;
    return operation;
}

Operation vector(Reader& reader, unsigned map, std::uint32_t further) {
    const unsigned char opcode = reader.next();
    if (map == 1 && opcode == 0x77) return other(0, {}, true);
    reader.operands();
    const bool is_wide_convert = map == 1 && (opcode == 0x78 || opcode == 0x79); // of EVEX, to unsigned
    const bool writes = vector_writes_register(map, opcode) || is_wide_convert;
    const bool compares = (map == 1 && (opcode == 0x2e || opcode == 0x2f || opcode == 0x98 || opcode == 0x99)) || writes || map == 2 || map == 3;
    const std::uint32_t implied = map == 3 && opcode >= 0x60 && opcode <= 0x63 ? rcx : 0;
    return wide(other(implied | (writes ? bit_of(reader.reg) | bit_of(reader.rm) | further : 0), reader.memory(), !compares));
}

Operation two_bytes(Reader& reader, bool has_rex) {
    const unsigned char opcode = reader.next();
    switch (opcode) {
    case 0x1e:
    case 0x1f:
    case 0x0d:
    case 0x18: {
        Operation out;
        out.kind = Op::Nothing;
        out.keeps_flags = true;
        return out;
    }
    case 0x05: return other(rax | rcx | r11);
    case 0x01: reader.operands(); return other(rax | rcx | rdx);
    case 0x31: return other(rax | rdx);
    case 0xa2: return other(rax | rbx | rcx | rdx);
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf:
        reader.operands();
        return extension(opcode < 0xb8 ? Op::MoveZero : Op::MoveSign, reader.size(), opcode % 2 == 0 ? 1 : 2, reader.reg, reader.rm, has_rex);
    case 0xb0:
    case 0xb1: reader.operands(); return other(rax, reader.rm);
    case 0xc7: reader.operands(); return other(rax | rdx, reader.rm);
    case 0x38:
    case 0x3a: {
        const unsigned char third = reader.next();
        reader.operands();
        const unsigned map = opcode == 0x38 ? 2 : 3;
        const std::uint32_t implied = map == 3 && third >= 0x60 && third <= 0x63 ? rcx : 0;
        const std::uint32_t written = vector_writes_register(map, third) ? bit_of(reader.reg) | bit_of(reader.rm) : 0;
        return other(implied | written, reader.memory());
    }
    default: break;
    }
    if (opcode >= 0xc8 && opcode <= 0xcf) return other(1u << reader.low_register(opcode), {}, true); // bswap
    if (opcode >= 0x80 && opcode <= 0x8f) return other(0, {}, true);                                 // a branch
    if (opcode == 0x77 || opcode == 0xa0 || opcode == 0xa1 || opcode == 0xa8 || opcode == 0xa9) return other(0);
    reader.operands();
    const bool is_vector = (opcode >= 0x10 && opcode <= 0x17) || (opcode >= 0x28 && opcode <= 0x2f) || (opcode >= 0x50 && opcode <= 0x7f) || opcode == 0xc2 ||
                           (opcode >= 0xc4 && opcode <= 0xc6) || opcode >= 0xd0;
    if (is_vector) {
        const std::uint32_t written = vector_writes_register(1, opcode) ? bit_of(reader.reg) | bit_of(reader.rm) : 0;
        return wide(other(written, reader.memory(), opcode != 0x2e && opcode != 0x2f));
    }
    const bool keeps_flags = (opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x90 && opcode <= 0x9f);
    return other(bit_of(reader.reg) | bit_of(reader.rm), reader.memory(), keeps_flags);
}

Operation shift(Reader& reader, bool is_byte, bool is_one) {
    reader.operands();
    const Operand count = is_one ? Operand{Operand::Kind::Immediate, Operand::none, Operand::none, 1, false, 1} : reader.immediate(1);
    const bool is_left = reader.digit == 4 || reader.digit == 6;
    if (is_byte || (!is_left && reader.digit != 5)) return other(bit_of(reader.rm), reader.rm);
    return binary(is_left ? Op::ShiftLeft : Op::ShiftRight, reader.size(), reader.rm, count);
}

Operation stack(Op kind, const Operand& operand) {
    Operation out;
    out.kind = kind;
    out.size = out.from_size = 8;
    out.to = out.from = operand;
    out.keeps_flags = true;
    return out;
}

} // namespace

Operand target_of(const CodeAt& code) {
    Reader reader(code);
    if (reader.next() != 0xff) return {};
    reader.operands();
    return reader.rm;
}

Operation operation_of(const CodeAt& code) {
    Reader reader(code);
    const bool has_rex = (code.bytes[0] & 0xf0) == 0x40 || (reader.is_short() && (code.bytes[1] & 0xf0) == 0x40);
    const unsigned char opcode = reader.next();
    const Operand a{Operand::Kind::Register, 0};
    if (reader.is_address_short()) return other(~0u);
    if (opcode < 0x40) {
        const unsigned number = opcode >> 3, form = opcode & 7;
        if (opcode == 0x0f) return two_bytes(reader, has_rex);
        const std::uint8_t size = form % 2 == 0 ? 1 : reader.size();
        if (form >= 4) return arithmetic_of(number, size, a, reader.immediate(form == 4 ? 1 : reader.size() == 2 ? 2 : 4));
        reader.operands();
        return form < 2 ? arithmetic_of(number, size, reader.rm, reader.reg) : arithmetic_of(number, size, reader.reg, reader.rm);
    }
    switch (opcode) {
    case 0x62: {
        const unsigned first = reader.next(), second = reader.next();
        reader.next();
        reader.set_extension(~first >> 5 & 7);
        return vector(reader, first & 7, 1u << (~(second >> 3) & 15));
    }
    case 0xc4: {
        const unsigned first = reader.next(), second = reader.next();
        reader.set_extension(~first >> 5 & 7);
        return vector(reader, first & 0x1f, 1u << (~(second >> 3) & 15));
    }
    case 0xc5: {
        const unsigned first = reader.next();
        reader.set_extension(~first >> 5 & 4);
        return vector(reader, 1, 1u << (~(first >> 3) & 15));
    }
    case 0x63: reader.operands(); return extension(Op::MoveSign, reader.size(), 4, reader.reg, reader.rm, true);
    case 0x68: return stack(Op::Push, reader.immediate(4));
    case 0x6a: return stack(Op::Push, reader.immediate(1));
    case 0x69:
    case 0x6b: reader.operands(); return other(bit_of(reader.reg));
    case 0x80:
    case 0x81:
    case 0x83: {
        reader.operands();
        const std::uint8_t size = opcode == 0x80 ? 1 : reader.size();
        return arithmetic_of(reader.digit, size, reader.rm, reader.immediate(opcode != 0x81 ? 1 : size == 2 ? 2 : 4));
    }
    case 0x84:
    case 0x85: return other(0);
    case 0x86:
    case 0x87: reader.operands(); return other(bit_of(reader.reg), reader.rm);
    case 0x88:
    case 0x8a: reader.operands(); return opcode == 0x88 ? binary(Op::Move, 1, reader.rm, reader.reg) : binary(Op::Move, 1, reader.reg, reader.rm);
    case 0x89: reader.operands(); return binary(Op::Move, reader.size(), reader.rm, reader.reg);
    case 0x8b: reader.operands(); return binary(Op::Move, reader.size(), reader.reg, reader.rm);
    case 0x8d: reader.operands(); return binary(Op::Address, reader.size(), reader.reg, reader.rm);
    case 0x8f: reader.operands(); return stack(Op::Pop, reader.rm);
    case 0x98: return extension(Op::MoveSign, reader.size(), reader.is_wide() ? 4 : 2, a, a, true);
    case 0x99: return other(rdx, {}, true);
    case 0x9c: return stack(Op::Push, {});
    case 0x9d: return stack(Op::Pop, {});
    case 0xa0:
    case 0xa1: return other(1, {}, true); // mov from an absolute address
    case 0xa2:
    case 0xa3: return other(0, {}, true);
    case 0xa8:
    case 0xa9: return other(0);
    case 0xc0:
    case 0xc1: return shift(reader, opcode == 0xc0, false);
    case 0xd0:
    case 0xd1: return shift(reader, opcode == 0xd0, true);
    case 0xd2:
    case 0xd3: reader.operands(); return other(bit_of(reader.rm), reader.rm);
    case 0xc6: reader.operands(); return binary(Op::Move, 1, reader.rm, reader.immediate(1));
    case 0xc7: reader.operands(); return binary(Op::Move, reader.size(), reader.rm, reader.immediate(reader.size() == 2 ? 2 : 4));
    case 0xc9: return stack(Op::Leave, {});
    case 0xf6:
    case 0xf7:
        reader.operands();
        if (reader.digit < 2) return other(0);
        return reader.digit < 4 ? other(bit_of(reader.rm), reader.rm) : other(rax | rdx);
    case 0xfe: reader.operands(); return other(bit_of(reader.rm), reader.rm);
    case 0xff:
        reader.operands();
        if (reader.digit == 6) return stack(Op::Push, reader.rm);
        return other(reader.digit < 2 ? bit_of(reader.rm) : 0, reader.memory());
    default: break;
    }
    if (opcode >= 0x50 && opcode <= 0x57) return stack(Op::Push, {Operand::Kind::Register, reader.low_register(opcode)});
    if (opcode >= 0x58 && opcode <= 0x5f) return stack(Op::Pop, {Operand::Kind::Register, reader.low_register(opcode)});
    if (opcode >= 0x90 && opcode <= 0x97) {
        const std::uint8_t number = reader.low_register(opcode);
        return number == 0 ? other(0, {}, true) : other(rax | 1u << number, {}, true);
    }
    if (opcode >= 0xb0 && opcode <= 0xb7) return other(1u << reader.low_register(opcode) | (has_rex ? 0 : 1u << (opcode & 3)), {}, true);
    if (opcode >= 0xb8 && opcode <= 0xbf)
        return binary(Op::Move, reader.size(), {Operand::Kind::Register, reader.low_register(opcode)},
                      reader.is_wide() ? reader.immediate(8) : reader.immediate(reader.size() == 2 ? 2 : 4));
    if (opcode >= 0xd8 && opcode <= 0xdf) { // the floating-point stack; some compare and some store the status in ax
        reader.operands();
        return other(opcode == 0xdf ? rax : 0, reader.memory());
    }
    if ((opcode >= 0x70 && opcode <= 0x7f) || opcode == 0xe9 || opcode == 0xeb) return other(0, {}, true);
    if ((opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf)) return other(rax | rcx | rsi | rdi);
    return other(opcode == 0xcc || (opcode & 0xf8) == 0xf8 ? 0 : rax | rcx | rdx);
}

} // namespace libprofile::tools
