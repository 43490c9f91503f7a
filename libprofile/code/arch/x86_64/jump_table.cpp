#include "libprofile/code/jump_table.hpp"

#include "libprofile/callpath/unwind_info.hpp"
#include "libprofile/code/arch/x86_64/operands.hpp"
#include "libprofile/code/module_constants.hpp"

#include <cstring>
#include <utility>

namespace libprofile {

using Kind = Instruction::Kind;

namespace {

constexpr std::size_t longest = 15; // bytes of an instruction

/// Follows the values of registers through straight code: the index of a switch, and what is computed from it.
class Switch {
  public:
    /// Executes an instruction. Of a branch, what follows if it is not taken.
    void execute(std::uintptr_t at, const Instruction& instruction) noexcept {
        switch (instruction.kind) {
        case Kind::Branch:
            if (instruction.condition == above) note_bound();
            return;
        case Kind::Nop: return;
        case Kind::Plain: compute(read_operands(at, instruction)); return;
        default: forget();
        }
    }
    /// The table of an indirect jump.
    bool find_table(std::uintptr_t at, const Instruction& instruction, JumpTable& table) const noexcept {
        const Operands operands = read_operands(at, instruction);
        if (operands.opcode != 0xff || operands.digit() != 4) return false;
        const Value value = operands.is_register ? value_[operands.rm] : entry_at(operands.memory);
        if (value.kind != Value::Target) return false;
        table = {value.address, value.bound + 1, value.is_relative};
        return true;
    }

    /// Whether the register of a jump holds the address of a function. `frame_is_gone`: by the unwind information.
    bool is_tail_call(std::uintptr_t at, const Instruction& instruction, bool frame_is_gone) const noexcept {
        const Operands operands = read_operands(at, instruction);
        if (!frame_is_gone || operands.opcode != 0xff || operands.digit() != 4 || !operands.is_register) return false;
        const Value& value = value_[operands.rm];
        return value.kind == Value::Any && (value.source == Value::Memory || (value.source == Value::Unknown && leaves_frame_));
    }

  private:
    static constexpr unsigned above = 7; // condition of a branch: unsigned
    static constexpr std::uint8_t stack_pointer = 4;

    struct Value {
        enum Kind : std::uint8_t {
            Any,
            Constant, // `address`
            Index,    // at most `bound`
            Scaled,   // four times an Index
            Cut,      // an entry of the table at `address`, without its sign
            Distance, // an entry of that table
            Target,   // where an entry leads to
        };
        enum Source : std::uint8_t {
            Unknown,
            Memory, // a word that no index chose
            Computed,
        };
        Kind kind = Any;
        Source source = Unknown;
        bool is_relative = true;
        std::uint32_t bound = 0;
        std::uint32_t number = 0; // registers with the same number have the same value
        std::uintptr_t address = 0;
    };

    Value fresh() noexcept {
        Value value;
        value.number = ++numbers_;
        return value;
    }
    Value made(Value::Kind kind, const Value& from) noexcept {
        Value value = from;
        value.kind = kind;
        value.number = ++numbers_;
        return value;
    }
    Value from(Value::Source source) noexcept {
        Value value = fresh();
        value.source = source;
        return value;
    }
    Value computed() noexcept { return from(Value::Computed); }
    void forget() noexcept {
        for (Value& value : value_) value = fresh();
        is_compared_ = is_bounded_ = leaves_frame_ = false;
    }
    void write(std::uint8_t reg, const Value& value) noexcept {
        value_[reg] = value;
        if (is_memory_ && compared_.uses(reg)) is_compared_ = is_bounded_ = false;
    }

    void compare(const Operands& operands) noexcept {
        is_compared_ = operands.immediate >= 0 && operands.immediate < JumpTable::most_entries;
        is_bounded_ = false;
        bound_ = static_cast<std::uint32_t>(operands.immediate);
        const bool is_accumulator = operands.opcode == 0x3c || operands.opcode == 0x3d;
        is_memory_ = !is_accumulator && !operands.is_register;
        is_wide_ = operands.is_wide;
        compared_ = operands.memory;
        if (!is_memory_) compared_number_ = value_[is_accumulator ? 0 : operands.rm].number;
        const bool is_byte = operands.opcode == 0x3c || operands.opcode == 0x80;
        if (is_byte && operands.is_register && !operands.has_rex && operands.rm >= 4) is_compared_ = false; // ah
    }
    /// A branch was not taken: what was compared is not above the constant.
    void note_bound() noexcept {
        if (!is_compared_) return;
        is_bounded_ = is_memory_;
        for (Value& value : value_)
            if (!is_memory_ && value.number == compared_number_ && value.kind == Value::Any) value.kind = Value::Index, value.bound = bound_;
    }

    /// A table of addresses may be asked without a register for it.
    Value entry_at(const Operands::Memory& memory) const noexcept {
        Value value;
        if (memory.base != Operands::none || memory.index == Operands::none || memory.scale != 8 || memory.is_relative || memory.displacement <= 0)
            return value;
        if (value_[memory.index].kind != Value::Index) return value;
        value.kind = Value::Target;
        value.is_relative = false;
        value.bound = value_[memory.index].bound;
        value.address = static_cast<std::uintptr_t>(memory.displacement);
        return value;
    }
    /// What four bytes in memory are.
    Value loaded(const Operands::Memory& memory, Value::Kind kind) noexcept {
        if (is_bounded_ && compared_ == memory) {
            Value value = fresh();
            value.kind = Value::Index;
            value.bound = bound_;
            return value;
        }
        if (memory.base == Operands::none || memory.index == Operands::none || memory.displacement != 0) return computed();
        const Value *table = &value_[memory.base], *index = &value_[memory.index];
        if (memory.scale == 1 && table->kind == Value::Scaled) std::swap(table, index);
        const bool is_entry =
            table->kind == Value::Constant && ((memory.scale == 4 && index->kind == Value::Index) || (memory.scale == 1 && index->kind == Value::Scaled));
        if (!is_entry) return computed();
        Value value = made(kind, *table);
        value.bound = index->bound;
        return value;
    }
    Value sum(const Value& one, const Value& other) noexcept {
        if (one.kind == Value::Distance && other.kind == Value::Constant && one.address == other.address) return made(Value::Target, one);
        if (other.kind == Value::Distance && one.kind == Value::Constant && one.address == other.address) return made(Value::Target, other);
        return computed();
    }
    /// A copy of a register, zero-extended if `is_wide` is false.
    Value copy(const Value& from, bool is_wide) noexcept { return is_wide || from.kind == Value::Index || from.kind == Value::Any ? from : computed(); }

    void compute(const Operands& operands) noexcept {
        if (operands.opcode >= 0x58 && operands.opcode <= 0x5f && !operands.has_prefix) { // pop
            write(operands.rm, fresh());
            write(stack_pointer, fresh());
            leaves_frame_ = true;
            return;
        }
        const Effects effects = effects_of(operands);
        if (!effects.is_known) return forget();
        const bool is_comparison =
            (operands.opcode >= 0x80 && operands.opcode <= 0x83 && operands.digit() == 7) || operands.opcode == 0x3c || operands.opcode == 0x3d;
        if (is_comparison && !(operands.has_prefix && operands.opcode != 0x83 && operands.opcode != 0x80 && operands.opcode != 0x3c)) return compare(operands);
        if (effects.sets_flags) is_compared_ = false;
        if (effects.written == Operands::none) return;
        write(effects.written, result(operands));
        const bool adds = operands.opcode == 0x83 || operands.opcode == 0x81;
        leaves_frame_ = leaves_frame_ || (effects.written == stack_pointer && adds && operands.digit() == 0);
    }
    Value result(const Operands& operands) noexcept {
        if (operands.has_prefix) return computed();
        switch (operands.opcode) {
        case 0x8d: // lea
            if (operands.is_wide && operands.memory.is_relative) {
                Value value = fresh();
                value.kind = Value::Constant;
                value.address = static_cast<std::uintptr_t>(operands.memory.displacement);
                return value;
            }
            if (operands.memory.base == Operands::none && operands.memory.index != Operands::none && operands.memory.scale == 4 &&
                operands.memory.displacement == 0 && value_[operands.memory.index].kind == Value::Index)
                return made(Value::Scaled, value_[operands.memory.index]);
            return computed();
        case 0x8b: // mov
            if (operands.is_register) return copy(value_[operands.rm], operands.is_wide);
            if (!operands.is_wide || (is_wide_ && is_bounded_ && compared_ == operands.memory)) return loaded(operands.memory, Value::Cut);
            if (entry_at(operands.memory).kind == Value::Target) return entry_at(operands.memory);
            return from(operands.memory.index == Operands::none ? Value::Memory : Value::Computed);
        case 0x89: return copy(value_[operands.reg], operands.is_wide);
        case 0x63: // movslq
            if (!operands.is_wide) return computed();
            if (!operands.is_register) return loaded(operands.memory, Value::Distance);
            return value_[operands.rm].kind == Value::Index ? value_[operands.rm] : computed();
        case 0x0fb6: // movzbl, movzwl
        case 0x0fb7: {
            if (!operands.is_register) return is_bounded_ && compared_ == operands.memory ? loaded(operands.memory, Value::Cut) : computed();
            const bool may_be_high = operands.opcode == 0x0fb6 && !operands.has_rex && operands.rm >= 4;
            const Value& value = value_[operands.rm];
            return !may_be_high && value.kind == Value::Index && (operands.opcode == 0x0fb7 || value.bound < 256) ? value : computed();
        }
        case 0x98: // cltq
            if (!operands.is_wide) return computed();
            if (value_[0].kind == Value::Cut) return made(Value::Distance, value_[0]);
            return value_[0].kind == Value::Index ? value_[0] : computed();
        case 0x01: return operands.is_wide && operands.is_register ? sum(value_[operands.reg], value_[operands.rm]) : computed();
        case 0x03: return operands.is_wide && operands.is_register ? sum(value_[operands.reg], value_[operands.rm]) : computed();
        default: return computed();
        }
    }

    Value value_[16];
    std::uint32_t numbers_ = 0;
    // The last comparison with a constant: of a register's value or of memory. Between it and the jump, a switch does not change that memory.
    bool is_compared_ = false;
    bool leaves_frame_ = false;
    bool is_memory_ = false;
    bool is_wide_ = false;
    bool is_bounded_ = false; // and the memory is not above it
    std::uint32_t bound_ = 0;
    std::uint32_t compared_number_ = 0;
    Operands::Memory compared_;

  public:
    Switch() noexcept { forget(); }
};

} // namespace

std::uintptr_t JumpTable::target(std::uint32_t number) const noexcept {
    if (!is_relative) {
        std::uintptr_t target = 0;
        std::memcpy(&target, reinterpret_cast<const void*>(address + number * sizeof target), sizeof target);
        return target;
    }
    std::int32_t distance = 0;
    std::memcpy(&distance, reinterpret_cast<const void*>(address + number * sizeof distance), sizeof distance);
    return address + static_cast<std::uintptr_t>(std::intptr_t{distance});
}

bool is_tail_call(const std::uintptr_t* instructions, std::uint32_t count) noexcept {
    constexpr std::int32_t at_entry = 8; // of the frame address above the stack pointer
    Switch code;
    for (std::uint32_t i = 0; i + 1 < count; ++i) code.execute(instructions[i], decode(instructions[i], instructions[i + 1] - instructions[i]));
    const std::uintptr_t jump = instructions[count - 1];
    const Recipe frame = read_unwind_info(jump);
    return code.is_tail_call(jump, decode(jump, longest), frame.kind == RecipeKind::Stack && frame.cfa_offset == at_entry);
}

bool find_jump_table(const std::uintptr_t* instructions, std::uint32_t count, JumpTable& table) noexcept {
    Switch code;
    for (std::uint32_t i = 0; i + 1 < count; ++i) code.execute(instructions[i], decode(instructions[i], instructions[i + 1] - instructions[i]));
    const std::uintptr_t jump = instructions[count - 1];
    return code.find_table(jump, decode(jump, longest), table) &&
           are_constants(table.address, table.entries * (table.is_relative ? sizeof(std::int32_t) : sizeof(std::uintptr_t)));
}

} // namespace libprofile
