#include "libprofile/code/instruction.hpp"

#include <cstring>

namespace libprofile {

namespace {

constexpr std::size_t longest_instruction = 15;

/// The operands after an opcode.
enum Form : std::uint8_t {
    Bad,
    None, // nothing
    M,    // a ModRM byte and the bytes it asks for
    MB,   // the same and an immediate of one byte
    MZ,   // the same and one of four bytes, two with the prefix 66
    B,    // an immediate only
    Z,
    J,  // a distance of one byte
    JZ, // of four
    Special
};

/// Forms of 256 opcodes, one letter each, in rows of 16: . bad, - none, m M, b MB, z MZ, i B, w Z, j J, J JZ, ? special.
constexpr char one_byte[] = "mmmmiw..mmmmiw.?" // 0f: another table
                            "mmmmiw..mmmmiw.."
                            "mmmmiw..mmmmiw.."
                            "mmmmiw..mmmmiw.."
                            "................" // REX
                            "----------------"
                            "...m....wzib...." // 62: EVEX
                            "jjjjjjjjjjjjjjjj"
                            "bz.bmmmmmmmmmmm?" // 8f: pop
                            "----------.-----"
                            "....----iw------"
                            "iiiiiiii????????" // b8: mov of an immediate that may have eight bytes
                            "bb?-..??.-..-i.." // c2: ret of two bytes, c4, c5: VEX
                            "mmmm...-mmmmmmmm"
                            "jjjj....JJ.j...."
                            "....--?"
                            "?------??";
constexpr char two_bytes[] = ".....-.....-.m.." // syscall, ud2, prefetch
                             "mmmmmmmmmmmmmmmm"
                             "........mmmmmmmm"
                             ".-......?.?....." // rdtsc; 38, 3a: further tables
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "bbbbmmm-..mmmmmm"
                             "JJJJJJJJJJJJJJJJ"
                             "mmmmmmmmmmmmmmmm"
                             "---mbm..--.mbmmm"
                             "mm.m..mmmmbmmmmm"
                             "mmbmbbbm--------"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm"
                             "mmmmmmmmmmmmmmmm";
static_assert(sizeof one_byte == 257 && sizeof two_bytes == 257);

Form form_of(char letter) {
    switch (letter) {
    case '-': return None;
    case 'm': return M;
    case 'b': return MB;
    case 'z': return MZ;
    case 'i': return B;
    case 'w': return Z;
    case 'j': return J;
    case 'J': return JZ;
    case '?': return Special;
    default: return Bad;
    }
}

/// Reads an instruction byte by byte. After its end it returns zeros and sets is_cut.
struct Bytes {
    const unsigned char* code;
    std::size_t limit;
    std::size_t at = 0;
    bool is_cut = false;
    unsigned char next() {
        if (at < limit) return code[at++];
        is_cut = true;
        return 0;
    }
    std::int32_t distance(unsigned size) {
        std::int32_t value = 0;
        if (size == 1) return static_cast<signed char>(next());
        if (at + 4 > limit)
            is_cut = true;
        else
            std::memcpy(&value, code + at, 4);
        at += 4;
        return value;
    }
};

struct ModRm {
    unsigned mode = 0, reg = 0, rm = 0;
};

/// Steps over a ModRM byte and the bytes it asks for, and notes the operand.
ModRm step_over_operand(Bytes& bytes, Instruction& out) {
    const unsigned byte = bytes.next();
    const ModRm operand{byte >> 6, (byte >> 3) & 7, byte & 7};
    if (operand.mode == 3) return operand;
    unsigned base = operand.rm;
    if (operand.rm == 4) {
        base = bytes.next() & 7;
        if (operand.mode == 0 && base == 5) {
            const std::int32_t address = bytes.distance(4);
            if (address > 0) out.table = static_cast<std::uintptr_t>(address);
            return operand;
        }
    } else if (operand.mode == 0 && operand.rm == 5) {
        out.displacement_at = static_cast<std::uint8_t>(bytes.at);
        bytes.distance(4);
        return operand;
    }
    if (operand.mode == 1) bytes.next();
    if (operand.mode == 2) bytes.distance(4);
    return operand;
}

using Kind = Instruction::Kind;

/// VEX and EVEX: opcodes of the maps 0f, 0f 38 and 0f 3a; 5 and 6 hold half-precision arithmetic.
bool step_over_vector(Bytes& bytes, unsigned map, bool is_evex, Instruction& out) {
    const unsigned opcode = bytes.next();
    out.kind = Kind::Plain;
    switch (map) {
    case 1: {
        if (opcode == 0x77 && !is_evex) return true; // vzeroupper
        const Form form = form_of(two_bytes[opcode]);
        if (opcode >= 0x80 && opcode <= 0x8f) return false;
        if (opcode < 0x10 || (form != M && form != MB)) return false;
        step_over_operand(bytes, out);
        if (form == MB) bytes.next();
        return true;
    }
    case 2:
    case 5:
    case 6: step_over_operand(bytes, out); return map == 2 || is_evex;
    case 3:
        step_over_operand(bytes, out);
        bytes.next();
        return true;
    default: return false;
    }
}

/// The opcodes after 0f.
bool step_over_two_bytes(Bytes& bytes, bool has_66, Instruction& out) {
    const unsigned opcode = bytes.next();
    out.kind = opcode == 0x0b ? Kind::End : opcode == 0x1e || opcode == 0x1f ? Kind::Nop : Kind::Plain;
    if (opcode == 0x38) {
        bytes.next();
        step_over_operand(bytes, out);
        return true;
    }
    if (opcode == 0x01) { // rdtscp, xgetbv; the others are for the system
        const unsigned which = bytes.next();
        return which == 0xf9 || which == 0xd0;
    }
    const Form form = form_of(two_bytes[opcode]);
    switch (opcode == 0x3a ? MB : form) {
    case None: return true;
    case M:
    case MB:
        if (opcode == 0x3a) bytes.next();
        step_over_operand(bytes, out);
        if (opcode == 0x3a || form == MB) bytes.next();
        return true;
    case JZ:
        out.kind = Kind::Branch;
        out.condition = opcode & 0xf;
        out.target = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(bytes.distance(4)));
        return !has_66;
    default: return false;
    }
}

bool step_over(Bytes& bytes, Instruction& out) {
    bool has_66 = false, has_67 = false, has_rep = false;
    unsigned opcode = bytes.next();
    for (;; opcode = bytes.next()) {
        if (opcode == 0x66)
            has_66 = true;
        else if (opcode == 0x67)
            has_67 = true;
        else if (opcode == 0xf2 || opcode == 0xf3)
            has_rep = true;
        else if (opcode != 0x26 && opcode != 0x2e && opcode != 0x36 && opcode != 0x3e && opcode != 0x64 && opcode != 0x65 && opcode != 0xf0)
            break;
        if (bytes.is_cut) return false;
    }
    bool is_rex_w = false;
    if ((opcode & 0xf0) == 0x40) {
        is_rex_w = (opcode & 8) != 0;
        opcode = bytes.next();
    }
    out.kind = Kind::Plain;
    switch (opcode) {
    case 0x0f: return step_over_two_bytes(bytes, has_66, out);
    case 0x62: {
        const unsigned map = bytes.next() & 7;
        bytes.next();
        bytes.next();
        return step_over_vector(bytes, map, true, out);
    }
    case 0xc4: {
        const unsigned map = bytes.next() & 0x1f;
        bytes.next();
        return map <= 3 && step_over_vector(bytes, map, false, out);
    }
    case 0xc5: bytes.next(); return step_over_vector(bytes, 1, false, out);
    case 0xc2:
        out.kind = Kind::End;
        bytes.next();
        bytes.next();
        return true;
    case 0xc3:
    case 0xf4: out.kind = Kind::End; return true;
    case 0xcc: return true;
    case 0x90: out.kind = has_rep || is_rex_w ? Kind::Plain : Kind::Nop; return true;
    case 0x8f: return step_over_operand(bytes, out).reg == 0;
    case 0xc6: {
        const ModRm operand = step_over_operand(bytes, out);
        bytes.next();
        return operand.reg == 0;
    }
    case 0xc7: {
        const ModRm operand = step_over_operand(bytes, out);
        bytes.at += has_66 && !is_rex_w ? 2 : 4;
        return operand.reg == 0; // else xbegin, which jumps
    }
    case 0xf6:
    case 0xf7: {
        const ModRm operand = step_over_operand(bytes, out);
        if (operand.reg < 2) bytes.at += opcode == 0xf6 ? 1 : has_66 && !is_rex_w ? 2 : 4;
        return true;
    }
    case 0xfe: return step_over_operand(bytes, out).reg < 2;
    case 0xff: {
        const ModRm operand = step_over_operand(bytes, out);
        if (operand.reg == 2) out.kind = Kind::IndirectCall;
        if (operand.reg == 4) out.kind = Kind::IndirectJump;
        return operand.reg != 3 && operand.reg != 5 && operand.reg != 7;
    }
    default: break;
    }
    if (opcode >= 0xb8 && opcode <= 0xbf) {
        bytes.at += is_rex_w ? 8 : has_66 ? 2 : 4;
        return true;
    }
    const unsigned immediate = has_66 && !is_rex_w ? 2 : 4;
    switch (form_of(one_byte[opcode])) {
    case None: return true;
    case M: step_over_operand(bytes, out); return true;
    case MB:
        step_over_operand(bytes, out);
        bytes.next();
        return true;
    case MZ:
        step_over_operand(bytes, out);
        bytes.at += immediate;
        return true;
    case B: bytes.next(); return true;
    case Z: bytes.at += opcode == 0x68 ? (has_66 ? 2 : 4) : immediate; return true;
    case J:
    case JZ: {
        const bool is_near = form_of(one_byte[opcode]) == JZ;
        out.target = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(bytes.distance(is_near ? 4 : 1)));
        out.condition = opcode & 0xf;
        out.kind = opcode == 0xe8 ? Kind::Call : opcode == 0xe9 || opcode == 0xeb ? Kind::Jump : opcode >= 0xe0 ? Kind::ShortBranch : Kind::Branch;
        return (!has_66 || is_rex_w) && (!has_67 || opcode == 0xe8);
    }
    default: return false;
    }
}

} // namespace

Instruction decode(std::uintptr_t address, std::size_t limit) noexcept {
    Instruction out;
    Bytes bytes{reinterpret_cast<const unsigned char*>(address), limit < longest_instruction ? limit : longest_instruction};
    if (!step_over(bytes, out) || bytes.is_cut || bytes.at > bytes.limit) return {};
    out.length = static_cast<std::uint8_t>(bytes.at);
    const std::uintptr_t end = address + out.length;
    switch (out.kind) {
    case Kind::Jump:
    case Kind::Branch:
    case Kind::ShortBranch:
    case Kind::Call: out.target += end; break;
    default:
        if (out.displacement_at != 0) {
            std::int32_t distance = 0;
            std::memcpy(&distance, bytes.code + out.displacement_at, sizeof distance);
            out.operand = end + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
        }
    }
    return out;
}

// Jumps through memory are calls at the end of a function, unless an index chooses from a table.
bool is_table_jump(std::uintptr_t at, const Instruction& instruction) noexcept {
    const auto* end = reinterpret_cast<const unsigned char*>(at) + instruction.length;
    const auto* begin = reinterpret_cast<const unsigned char*>(at);
    std::size_t opcode = 0;
    while (opcode + 1 < instruction.length && begin[opcode] != 0xff) ++opcode;        // after prefixes
    const bool is_index_extended = opcode != 0 && (begin[opcode - 1] & 0xf2) == 0x42; // REX.X: the index that means none is r12
    const bool has_index = opcode + 2 < instruction.length && begin[opcode + 1] < 0xc0 && (begin[opcode + 1] & 7) == 4 &&
                           ((begin[opcode + 2] & 0x38) != 0x20 || is_index_extended);
    return instruction.table != 0 || has_index || (instruction.length >= 2 && end[-2] == 0xff && end[-1] >= 0xc0);
}

bool is_return(std::uintptr_t at, const Instruction& instruction) noexcept {
    const unsigned char opcode = reinterpret_cast<const unsigned char*>(at)[instruction.length == 2 ? 1 : 0]; // `rep ret`
    return instruction.kind == Kind::End && (opcode == 0xc3 || opcode == 0xc2);
}

} // namespace libprofile
