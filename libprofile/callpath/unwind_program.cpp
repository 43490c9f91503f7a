#include "libprofile/callpath/unwind_program.hpp"

namespace libprofile {

namespace {

constexpr unsigned most_instructions = 1u << 16;
constexpr unsigned most_remembered = 8; // compilers nest one or two deep

/// DW_CFA_*. Three instructions have an operand in their low six bits.
enum class Op : std::uint8_t {
    AdvanceLocation = 0x40,
    Offset = 0x80,
    Restore = 0xc0,
    Nothing = 0x00,
    SetLocation = 0x01,
    AdvanceLocation1 = 0x02,
    AdvanceLocation2 = 0x03,
    AdvanceLocation4 = 0x04,
    OffsetExtended = 0x05,
    RestoreExtended = 0x06,
    Undefined = 0x07,
    SameValue = 0x08,
    Register = 0x09,
    RememberState = 0x0a,
    RestoreState = 0x0b,
    DefineCfa = 0x0c,
    DefineCfaRegister = 0x0d,
    DefineCfaOffset = 0x0e,
    DefineCfaExpression = 0x0f,
    Expression = 0x10,
    OffsetExtendedSigned = 0x11,
    DefineCfaSigned = 0x12,
    DefineCfaOffsetSigned = 0x13,
    ValueOffset = 0x14,
    ValueOffsetSigned = 0x15,
    ValueExpression = 0x16,
    AdvanceLocation8 = 0x1d,
    NegateSignedState = 0x2d, // AArch64
    GnuArgumentsSize = 0x2e,
    GnuNegativeOffsetExtended = 0x2f,
};

class Interpreter {
  public:
    Interpreter(const UnwindEntry& entry, std::uintptr_t address) : entry_(entry), address_(address), location_(entry.start) {}

    bool run() {
        if (!run(entry_.common_program, true)) return false;
        initial_ = row_;
        return run(entry_.program, false);
    }
    const UnwindRow& row() const { return row_; }

  private:
    /// Returns false for damaged data or an unknown instruction.
    bool run(DwarfCursor cursor, bool is_common);

    /// Returns true if the row that begins there still concerns the address.
    bool advance(std::uint64_t units) { return move_to(location_ + units * entry_.code_factor); }
    bool move_to(std::uintptr_t location) {
        passed_ = location > address_ || location < location_; // rows are in ascending order
        location_ = location;
        return !passed_;
    }

    void set(std::uint64_t number, UnwindRule::Kind kind, std::int64_t value = 0, std::uint32_t size = 0) {
        if (UnwindRule* rule = row_.of(number)) *rule = {kind, size, value};
    }
    void set_expression(std::uint64_t number, UnwindRule::Kind kind, DwarfCursor& cursor) {
        const DwarfCursor expression = cursor.part(cursor.unsigned_leb());
        set(number, kind, static_cast<std::int64_t>(expression.position()), static_cast<std::uint32_t>(expression.left()));
    }
    bool restore(std::uint64_t number, bool is_common) {
        if (UnwindRule* rule = row_.of(number)) *rule = *initial_.of(number);
        return !is_common; // there is no earlier state to return to
    }
    void define_cfa(std::uint64_t number, std::int64_t offset) {
        row_.cfa = {UnwindRule::Kind::Register, number > unwind_register::largest ? 0 : static_cast<std::uint32_t>(number), offset};
    }
    // Products wrap around, because damaged data must not overflow a signed number.
    std::int64_t scaled(std::uint64_t factor) const { return static_cast<std::int64_t>(factor * static_cast<std::uint64_t>(entry_.data_factor)); }
    std::int64_t scaled(std::int64_t factor) const { return scaled(static_cast<std::uint64_t>(factor)); }

    const UnwindEntry& entry_;
    std::uintptr_t address_;
    std::uintptr_t location_;
    bool passed_ = false; // the address
    UnwindRow row_;
    UnwindRow initial_;
    UnwindRow remembered_[most_remembered];
    unsigned remembered_count_ = 0;
};

bool Interpreter::run(DwarfCursor cursor, bool is_common) {
    for (unsigned i = 0; !cursor.at_end() && !passed_; ++i) {
        if (i == most_instructions) return false;
        const auto byte = cursor.read<std::uint8_t>();
        const std::uint64_t operand = byte & 0x3f;
        const Op op = static_cast<Op>((byte & 0xc0) != 0 ? byte & 0xc0 : byte);
        const bool moves = op == Op::AdvanceLocation || (op >= Op::SetLocation && op <= Op::AdvanceLocation4);
        if (is_common && moves) return false;
        // One operand per statement: the order of evaluation in an argument list is not defined.
        switch (op) {
        case Op::Nothing: break;
        case Op::AdvanceLocation: advance(operand); break;
        case Op::AdvanceLocation1: advance(cursor.read<std::uint8_t>()); break;
        case Op::AdvanceLocation2: advance(cursor.read<std::uint16_t>()); break;
        case Op::AdvanceLocation4: advance(cursor.read<std::uint32_t>()); break;
        case Op::AdvanceLocation8: advance(cursor.read<std::uint64_t>()); break;
        case Op::SetLocation: move_to(cursor.pointer(entry_.encoding, 0)); break;
        case Op::Offset: set(operand, UnwindRule::Kind::AtCfa, scaled(cursor.unsigned_leb())); break;
        case Op::OffsetExtended: {
            const std::uint64_t number = cursor.unsigned_leb();
            set(number, UnwindRule::Kind::AtCfa, scaled(cursor.unsigned_leb()));
            break;
        }
        case Op::OffsetExtendedSigned: {
            const std::uint64_t number = cursor.unsigned_leb();
            set(number, UnwindRule::Kind::AtCfa, scaled(cursor.signed_leb()));
            break;
        }
        case Op::GnuNegativeOffsetExtended: {
            const std::uint64_t number = cursor.unsigned_leb();
            set(number, UnwindRule::Kind::AtCfa, scaled(-cursor.unsigned_leb()));
            break;
        }
        case Op::Restore:
            if (!restore(operand, is_common)) return false;
            break;
        case Op::RestoreExtended:
            if (!restore(cursor.unsigned_leb(), is_common)) return false;
            break;
        case Op::Undefined: set(cursor.unsigned_leb(), UnwindRule::Kind::Undefined); break;
        case Op::SameValue: set(cursor.unsigned_leb(), UnwindRule::Kind::Same); break;
        case Op::Register:
        case Op::ValueOffset:
        case Op::ValueOffsetSigned:
            set(cursor.unsigned_leb(), UnwindRule::Kind::Other);
            cursor.unsigned_leb(); // a signed number has the same length
            break;
        case Op::Expression: {
            const std::uint64_t number = cursor.unsigned_leb();
            set_expression(number, UnwindRule::Kind::Expression, cursor);
            break;
        }
        case Op::ValueExpression: {
            const std::uint64_t number = cursor.unsigned_leb();
            set_expression(number, UnwindRule::Kind::Other, cursor);
            break;
        }
        case Op::RememberState:
            if (remembered_count_ == most_remembered) return false;
            remembered_[remembered_count_++] = row_;
            break;
        case Op::RestoreState:
            if (remembered_count_ == 0) return false;
            row_ = remembered_[--remembered_count_];
            break;
        case Op::DefineCfa: {
            const std::uint64_t number = cursor.unsigned_leb();
            define_cfa(number, static_cast<std::int64_t>(cursor.unsigned_leb()));
            break;
        }
        case Op::DefineCfaSigned: {
            const std::uint64_t number = cursor.unsigned_leb();
            define_cfa(number, scaled(cursor.signed_leb()));
            break;
        }
        case Op::DefineCfaRegister:
            if (row_.cfa.kind != UnwindRule::Kind::Register) return false;
            define_cfa(cursor.unsigned_leb(), row_.cfa.value);
            break;
        case Op::DefineCfaOffset:
            if (row_.cfa.kind != UnwindRule::Kind::Register) return false;
            row_.cfa.value = static_cast<std::int64_t>(cursor.unsigned_leb());
            break;
        case Op::DefineCfaOffsetSigned:
            if (row_.cfa.kind != UnwindRule::Kind::Register) return false;
            row_.cfa.value = scaled(cursor.signed_leb());
            break;
        case Op::DefineCfaExpression: {
            const DwarfCursor expression = cursor.part(cursor.unsigned_leb());
            row_.cfa = {UnwindRule::Kind::Expression, static_cast<std::uint32_t>(expression.left()), static_cast<std::int64_t>(expression.position())};
            break;
        }
        case Op::NegateSignedState:
            if (!has_signed_returns) return false;
            row_.is_signed = !row_.is_signed;
            break;
        case Op::GnuArgumentsSize: cursor.unsigned_leb(); break;
        default: return false;
        }
    }
    return !cursor.failed();
}

} // namespace

bool run_unwind_program(const UnwindEntry& entry, std::uintptr_t address, UnwindRow& row) noexcept {
    Interpreter interpreter(entry, address);
    if (!interpreter.run()) return false;
    row = interpreter.row();
    return true;
}

} // namespace libprofile
