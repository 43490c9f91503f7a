// What compilers make of a switch: an entry of one, two or four bytes, counted from a label that `adr` gives in instructions, is chosen by an index
// that a comparison has limited:
//     cmp w0, #4; b.hi other; adrp x1, table; add x1, x1, :lo12:table; ldrb w0, [x1, w0, uxtw]; adr x1, label; add x0, x1, w0, sxtb #2; br x0
#include "libprofile/code/jump_table.hpp"

#include "libprofile/callpath/unwind_info.hpp"
#include "libprofile/code/module_constants.hpp"

#include <cstring>

namespace libprofile {

namespace {

constexpr unsigned zero = 31; // the register that is always 0, or the stack pointer

std::uint32_t code_at(std::uintptr_t address) {
    std::uint32_t code = 0;
    std::memcpy(&code, reinterpret_cast<const void*>(address), sizeof code);
    return code;
}
unsigned field(std::uint32_t code, unsigned low, unsigned size) { return (code >> low) & ((1u << size) - 1); }

/// Where adr or adrp lead to.
std::uintptr_t label_of(std::uintptr_t at, std::uint32_t code) {
    const std::uint32_t bits = field(code, 5, 19) << 2 | field(code, 29, 2);
    const auto distance = std::intptr_t{static_cast<std::int32_t>(bits << 11) >> 11};
    const bool is_page = code >> 31 != 0;
    return is_page ? (at & ~std::uintptr_t{4095}) + static_cast<std::uintptr_t>(distance * 4096) : at + static_cast<std::uintptr_t>(distance);
}

struct Value {
    enum class Kind : std::uint8_t { Unknown, Constant, Index, Entry, Case, Pointer };
    Kind kind = Kind::Unknown;
    std::uint8_t bytes = 0;      // of an Entry or a Case
    bool is_signed = false;      // the same
    std::uint32_t entries = 0;   // that an Index can choose, or of the table
    std::uintptr_t constant = 0; // or the table's address
    std::uintptr_t counted = 0;  // of a Case: the address from which entries are counted
};
using Kind = Value::Kind;

/// The registers in a straight piece of code.
class Registers {
  public:
    Value& operator[](unsigned number) { return values_[number]; }

    void execute(std::uintptr_t at) {
        const std::uint32_t code = code_at(at);
        const unsigned to = field(code, 0, 5), from = field(code, 5, 5), other = field(code, 16, 5);
        const std::uint32_t immediate = field(code, 10, 12) << (field(code, 22, 1) != 0 ? 12 : 0);
        if ((code & 0x1f000000) == 0x10000000) return set(to, {Kind::Constant, 0, false, 0, label_of(at, code), 0}); // adr, adrp
        if ((code & 0xff800000) == 0x91000000 && values_[from].kind == Kind::Constant && from != zero) {             // add x, x, #
            Value sum = values_[from];
            sum.constant += immediate;
            return set(to, sum);
        }
        if ((code & 0x7f80001f) == 0x7100001f) { // cmp, #
            compared_ = from;
            limit_ = immediate;
            return;
        }
        if ((code & 0xff00001f) == 0x54000008) { // b.hi: the index is not above the limit from here on
            if (compared_ != zero && limit_ < JumpTable::most_entries) values_[compared_] = {Kind::Index, 0, false, limit_ + 1, 0, 0};
            return;
        }
        if ((code & 0x7fe0ffe0) == 0x2a0003e0) return set(to, values_[other]);                     // mov
        if ((code & 0xffc00000) == 0xf9400000) return set(to, {Kind::Pointer, 0, false, 0, 0, 0}); // ldr x, [x, #]
        if (is_load_of_entry(code)) return set(to, entry(code, values_[from], values_[other]));
        if (is_sum_with_entry(code)) return set(to, sum(code, values_[from], values_[other]));
        forget(code, to, from);
    }

  private:
    void set(unsigned number, const Value& value) {
        if (number == compared_) compared_ = zero;
        if (number != zero) values_[number] = value;
    }
    /// ldrb, ldrh, ldr w, ldrsw, ldrsb, ldrsh with an index that is not scaled, or by the size of the entry; not ldr x.
    static bool is_load_of_entry(std::uint32_t code) { return (code & 0x3f200c00) == 0x38200800 && (code >> 30) != 3 && field(code, 22, 2) != 0; }
    static Value entry(std::uint32_t code, const Value& table, const Value& index) {
        const unsigned size = code >> 30, extension = field(code, 13, 3);
        const bool is_scaled = field(code, 12, 1) != 0 || size == 0, is_right = extension == 2 || extension == 3; // uxtw, lsl
        if (table.kind != Kind::Constant || index.kind != Kind::Index || !is_scaled || !is_right) return {};
        return {Kind::Entry, static_cast<std::uint8_t>(1u << size), field(code, 22, 2) >= 2, index.entries, table.constant, 0};
    }
    /// add x, x, w, extended and shifted by 2, or add x, x, x, lsl #2.
    static bool is_sum_with_entry(std::uint32_t code) { return (code & 0xffe01c00) == 0x8b200800 || (code & 0xffe0fc00) == 0x8b000800; }
    static Value sum(std::uint32_t code, const Value& label, const Value& entry) {
        if (label.kind != Kind::Constant || entry.kind != Kind::Entry) return {};
        const bool is_extended = (code & 0x00200000) != 0;
        const unsigned extension = field(code, 13, 3), size = extension & 3; // uxtb to uxtx, sxtb to sxtx
        if (is_extended && (1u << size) < entry.bytes) return {};
        Value result = entry;
        result.kind = Kind::Case;
        result.is_signed = entry.is_signed || (is_extended && extension >= 4 && (1u << size) == entry.bytes);
        result.counted = label.constant;
        return result;
    }
    /// Of any other instruction: all that it may change.
    void forget(std::uint32_t code, unsigned to, unsigned from) {
        const bool is_memory = (code & 0x0a000000) == 0x08000000;
        if ((code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfefff800) == 0xd63f0800) {
            for (Value& value : values_) value = {}; // a call
            compared_ = zero;
            return;
        }
        if ((code & 0x1c000000) == 0x14000000) { // branches that are not taken, and system instructions
            if ((code & 0xfff00000) == 0xd5300000) set(to, {});
            return;
        }
        // Flags: what was compared before says nothing any more.
        const bool sets_flags = (code & 0x1f000000) == 0x0a000000 || (code & 0x3f000000) == 0x2b000000 || (code & 0x3f800000) == 0x31000000 ||
                                (code & 0x3f000000) == 0x3a000000 || (code & 0x7f800000) == 0x72000000 || (code & 0xff20fc00) == 0x1e202000;
        if (sets_flags) compared_ = zero;
        set(to, {});
        if (!is_memory) return;
        if (from != zero) set(from, {});
        const unsigned second = field(code, 10, 5);
        if (second != zero) set(second, {});
    }

    Value values_[32];
    unsigned compared_ = zero;
    std::uint32_t limit_ = 0;
};

Value jumps_to(const std::uintptr_t* instructions, std::uint32_t count) {
    Registers registers;
    for (std::uint32_t i = 0; i + 1 < count; ++i) registers.execute(instructions[i]);
    return registers[field(code_at(instructions[count - 1]), 5, 5)];
}

} // namespace

std::uintptr_t JumpTable::target(std::uint32_t number) const noexcept {
    const auto* const at = reinterpret_cast<const unsigned char*>(address) + std::size_t{number} * bytes;
    std::uint32_t entry = 0;
    std::memcpy(&entry, at, bytes);
    const unsigned unused = 32 - 8u * bytes;
    const std::int64_t distance = is_signed ? std::int64_t{static_cast<std::int32_t>(entry << unused) >> unused} : std::int64_t{entry};
    return counted_from + static_cast<std::uintptr_t>(distance * 4);
}

/// GCC calls through these two registers at the end of a function, and only there.
bool is_tail_call(const std::uintptr_t* instructions, std::uint32_t count) noexcept {
    const std::uintptr_t jump = instructions[count - 1];
    const Recipe frame = read_unwind_info(jump);
    const bool is_gone = frame.kind == RecipeKind::Stack && frame.cfa_offset == 0 && frame.frame_rule == FramePointerRule::Same;
    const unsigned target = field(code_at(jump), 5, 5);
    return is_gone && (target == 16 || target == 17 || jumps_to(instructions, count).kind == Kind::Pointer);
}

bool find_jump_table(const std::uintptr_t* instructions, std::uint32_t count, JumpTable& table) noexcept {
    const Value target = jumps_to(instructions, count);
    if (target.kind != Kind::Case) return false;
    table.address = target.constant;
    table.entries = target.entries;
    table.bytes = target.bytes;
    table.is_signed = target.is_signed;
    table.counted_from = target.counted;
    return are_constants(table.address, std::size_t{table.entries} * table.bytes);
}

} // namespace libprofile
