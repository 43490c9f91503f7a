#include "tools/code/register_values.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

using Op = Operation::Kind;

constexpr std::uint64_t stack_at_entry = 1; // the number of that value
constexpr std::uint64_t largest_bound = 1 << 20;

/// A number for the value that an instruction, or a meeting of blocks, makes for a place.
std::uint64_t number_of(std::uint64_t address, std::uint64_t slot) {
    std::uint64_t mixed = (address + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9 ^ (slot + 1) * 0x94d049bb133111eb;
    mixed ^= mixed >> 29;
    return mixed < 16 ? mixed + 16 : mixed;
}

Value constant(std::uint64_t value) {
    Value out;
    out.constant = value;
    return out;
}

Value symbol(std::uint64_t id, bool is_computed) {
    Value out;
    out.scale = 1;
    out.id = id;
    out.is_computed = is_computed;
    return out;
}

std::uint64_t cut(std::uint64_t value, unsigned size) { return size >= 8 ? value : value & ((std::uint64_t{1} << 8 * size) - 1); }

/// Limits a value to 0 .. most, unless it has narrower limits.
void limit(Value& value, std::uint64_t most) {
    if (!value.is_symbol()) return;
    const std::uint64_t first = value.constant + value.low;
    if (value.span != Value::unbounded && first <= most && value.span <= most - first) return;
    value.low = -value.constant;
    value.span = most;
}

} // namespace

RegisterValues RegisterValues::at_entry() {
    RegisterValues out;
    for (std::size_t i = 0; i < out.registers_.size(); ++i) out.registers_[i] = symbol(2 + i, false);
    out.registers_[stack_pointer] = symbol(stack_at_entry, false);
    return out;
}

bool RegisterValues::is_frame_gone() const {
    const Value& stack = registers_[stack_pointer];
    return stack.is_symbol() && stack.id == stack_at_entry && stack.constant == 0;
}

template <class Visit> void RegisterValues::for_each_value(Visit visit) {
    for (std::size_t i = 0; i < registers_.size(); ++i) visit(registers_[i], i);
    for (Cell& cell : cells_) visit(cell.value, number_of(cell.id, cell.offset));
}

/// Values of that number are older than the one that gets it now: when a loop comes to an instruction again.
void RegisterValues::forget(std::uint64_t id) {
    for_each_value([&](Value& value, std::uint64_t place) {
        if (value.id == id && value.kind == Value::Kind::Linear) value = symbol(number_of(id, place), value.is_computed);
    });
    std::erase_if(cells_, [&](const Cell& cell) { return cell.id == id; });
    if (comparison_.left.id == id) comparison_.is_known = false;
}

Value RegisterValues::fresh(std::uint64_t address, std::uint64_t slot, bool is_computed) {
    const std::uint64_t id = number_of(address, slot);
    forget(id);
    return symbol(id, is_computed);
}

Value RegisterValues::sum(const Value& a, const Value& b, std::uint64_t address) {
    if (!a.is_constant() && !b.is_constant()) return fresh(address, 100, true);
    Value out = a.is_constant() ? b : a;
    const std::uint64_t more = a.is_constant() ? a.constant : b.constant;
    (out.kind == Value::Kind::Entry ? out.added : out.constant) += more;
    return out;
}

Value RegisterValues::scaled(const Value& value, std::uint64_t factor, std::uint64_t address) {
    if (factor == 1) return value;
    if (value.kind == Value::Kind::Entry) return scaled(fresh(address, 101, true), factor, address);
    Value out = value;
    out.constant *= factor;
    out.scale *= factor;
    return out;
}

Value RegisterValues::address_in(const Operand& memory, std::uint64_t address) {
    Value out = constant(static_cast<std::uint64_t>(memory.value));
    if (memory.base != Operand::none) out = sum(out, registers_[memory.base], address);
    if (memory.index != Operand::none) out = sum(out, scaled(registers_[memory.index], memory.scale, address), address);
    return out;
}

Value RegisterValues::load(const ElfCode& code, std::uint64_t address, const Operand& memory, std::uint8_t size, bool is_signed) {
    const Value where = memory.is_segment ? fresh(address, 102, true) : address_in(memory, address);
    if (where.kind == Value::Kind::Linear && where.scale >= 2) {
        Value entry = where;
        entry.kind = Value::Kind::Entry;
        entry.width = size;
        entry.is_signed = is_signed;
        if (where.span != Value::unbounded) entry.constant += where.scale * where.low;
        entry.id = entry.low = 0;
        if (!code.bytes(entry.constant).empty()) return entry;
    }
    if (where.is_constant() && is_signed && size == 4 && code.is_constant(where.constant)) {
        // The index is constant as far as is known, until the code behind this switch has been found.
        Value entry = where;
        entry.kind = Value::Kind::Entry;
        entry.width = size;
        entry.is_signed = true;
        entry.scale = size;
        return entry;
    }
    const bool is_place = where.kind == Value::Kind::Linear && where.scale <= 1;
    if (is_place)
        for (const Cell& cell : cells_)
            if (cell.id == where.id && cell.offset == where.constant && cell.size >= size) {
                Value value = cell.value;
                if (size < 4 && !is_signed) limit(value, cut(~std::uint64_t{0}, size));
                return value;
            }
    Value value = fresh(address, 103, false);
    if (size < 4 && !is_signed) limit(value, cut(~std::uint64_t{0}, size));
    if (is_place) store(where, size, &value);
    return value;
}

Value RegisterValues::read(const ElfCode& code, std::uint64_t address, const Operand& operand, std::uint8_t size, bool is_signed) {
    switch (operand.kind) {
    case Operand::Kind::Register: return registers_[operand.base];
    case Operand::Kind::Immediate: return constant(static_cast<std::uint64_t>(operand.value));
    case Operand::Kind::Memory: return load(code, address, operand, size, is_signed);
    case Operand::Kind::None: break;
    }
    return fresh(address, 104, true);
}

/// @param value nullptr: unknown
void RegisterValues::store(const Value& where, std::uint8_t size, const Value* value) {
    const bool is_place = where.kind == Value::Kind::Linear && where.scale <= 1;
    const bool is_stack = is_place && where.scale == 1 && (where.id == stack_at_entry || where.id == registers_[stack_pointer].id);
    std::erase_if(cells_, [&](const Cell& cell) {
        if (!is_place || cell.id != where.id) return !is_stack && !cell.is_stack;
        return cell.offset + cell.size > where.constant && where.constant + size > cell.offset;
    });
    if (value == nullptr || !is_place || cells_.size() == most_cells) return;
    const auto at =
        std::find_if(cells_.begin(), cells_.end(), [&](const Cell& cell) { return cell.id != where.id ? cell.id > where.id : cell.offset > where.constant; });
    cells_.insert(at, {where.id, where.constant, size, is_stack, *value});
}

void RegisterValues::write(std::uint64_t address, const Operand& to, std::uint8_t size, const Value& value) {
    if (to.kind == Operand::Kind::Memory) {
        const Value where = to.is_segment ? fresh(address, 102, true) : address_in(to, address);
        return store(where, size, &value);
    }
    if (to.kind != Operand::Kind::Register) return;
    Value out = value;
    if (out.is_constant()) out.constant = cut(out.constant, size);
    registers_[to.base] = out;
}

/// Registers that functions may change, and memory that they may know of.
void RegisterValues::call(std::uint64_t address) {
    for (const std::size_t i : {0, 1, 2, 6, 7, 8, 9, 10, 11}) registers_[i] = fresh(address, i, false);
    std::erase_if(cells_, [](const Cell& cell) { return !cell.is_stack; });
    comparison_.is_known = false;
}

void RegisterValues::push(std::uint64_t address, const Value& value) {
    registers_[stack_pointer] = sum(registers_[stack_pointer], constant(static_cast<std::uint64_t>(-8)), address);
    store(registers_[stack_pointer], 8, &value);
}

/// Arithmetic with a register as its result, or a comparison.
void RegisterValues::binary(const ElfCode& code, std::uint64_t address, const Operation& operation) {
    const Value left = read(code, address, operation.to, operation.size, false);
    const Value right = read(code, address + 1, operation.from, operation.size, false); // another number, if both are new
    comparison_ = {};
    if ((operation.kind == Op::Compare || operation.kind == Op::Subtract) && right.is_constant() && left.is_symbol())
        comparison_ = {true, operation.size, left, cut(right.constant, operation.size)};
    const std::size_t slot = operation.to.kind == Operand::Kind::Register ? operation.to.base : 0;
    switch (operation.kind) {
    case Op::Add: return write(address, operation.to, operation.size, sum(left, right, address));
    case Op::Subtract: {
        const Comparison kept = comparison_;
        write(address, operation.to, operation.size, right.is_constant() ? sum(left, constant(-right.constant), address) : fresh(address, slot, true));
        comparison_ = kept;
        return;
    }
    case Op::And: {
        Value out = fresh(address, slot, true);
        if (right.is_constant()) {
            const std::uint64_t most = cut(right.constant, operation.size);
            if (most < largest_bound) limit(out, most);
        }
        return write(address, operation.to, operation.size, out);
    }
    case Op::ShiftLeft: return write(address, operation.to, operation.size, scaled(left, std::uint64_t{1} << (right.constant & 31), address));
    case Op::ShiftRight: {
        Value out = fresh(address, slot, true);
        const std::uint64_t most = cut(~std::uint64_t{0}, operation.size) >> (right.constant & 63);
        if (most < largest_bound) limit(out, most);
        return write(address, operation.to, operation.size, out);
    }
    default: return;
    }
}

void RegisterValues::step(const ElfCode& code, std::uint64_t address, const CodeAt& at) {
    if (at.instruction.kind == Instruction::Kind::Call || at.instruction.kind == Instruction::Kind::IndirectCall) return call(address);
    if (at.instruction.kind != Instruction::Kind::Plain) return;
    const Operation operation = operation_of(at);
    switch (operation.kind) {
    case Op::Nothing: return;
    case Op::Move: return write(address, operation.to, operation.size, read(code, address, operation.from, operation.from_size, false));
    case Op::MoveZero: {
        Value value = read(code, address, operation.from, operation.from_size, false);
        if (value.is_constant()) value.constant = cut(value.constant, operation.from_size);
        limit(value, cut(~std::uint64_t{0}, operation.from_size));
        return write(address, operation.to, operation.size, value);
    }
    case Op::MoveSign: {
        Value value = read(code, address, operation.from, operation.from_size, true);
        const unsigned unused = 64 - 8 * operation.from_size;
        if (value.is_constant()) value.constant = static_cast<std::uint64_t>(static_cast<std::int64_t>(value.constant << unused) >> unused);
        if (value.kind == Value::Kind::Entry && value.width == operation.from_size) value.is_signed = true; // read before, extended now
        return write(address, operation.to, operation.size, value);
    }
    case Op::Address: return write(address, operation.to, operation.size, address_in(operation.from, address));
    case Op::Clear: comparison_ = {}; return write(address, operation.to, operation.size, constant(0));
    case Op::Add:
    case Op::Subtract:
    case Op::And:
    case Op::Compare:
    case Op::ShiftLeft:
    case Op::ShiftRight: return binary(code, address, operation);
    case Op::Push: return push(address, read(code, address, operation.from, 8, false));
    case Op::Leave:
    case Op::Pop: {
        if (operation.kind == Op::Leave) registers_[stack_pointer] = registers_[frame_pointer];
        const Operand top{Operand::Kind::Memory, stack_pointer};
        const Value value = load(code, address, top, 8, false);
        registers_[stack_pointer] = sum(registers_[stack_pointer], constant(8), address);
        const Operand frame{Operand::Kind::Register, frame_pointer};
        return write(address, operation.kind == Op::Leave ? frame : operation.to, 8, value);
    }
    case Op::Other: break;
    }
    if (operation.memory.kind == Operand::Kind::Memory && !operation.memory.is_segment)
        store(address_in(operation.memory, address), operation.memory_size, nullptr);
    for (std::size_t i = 0; i < registers_.size(); ++i)
        if ((operation.written >> i & 1) != 0) registers_[i] = fresh(address, i, false);
    if (!operation.keeps_flags) comparison_ = {};
}

void RegisterValues::assume(unsigned condition, bool is_taken) {
    if (!comparison_.is_known) return;
    const Value& left = comparison_.left;
    std::uint64_t most = comparison_.right;
    // Signed comparisons say the same of what is not negative.
    const bool is_positive = left.span != Value::unbounded && left.constant + left.low + left.span < largest_bound && left.constant + left.low < largest_bound;
    const bool is_signed = condition >= 0xc;
    if (is_signed && !is_positive) return;
    const bool is_below = condition == 0x2 || condition == 0xc, is_not_below = condition == 0x3 || condition == 0xd;
    const bool is_at_most = condition == 0x6 || condition == 0xe, is_above = condition == 0x7 || condition == 0xf;
    const bool is_less = (is_below && is_taken) || (is_not_below && !is_taken);
    const bool is_not_more = (is_at_most && is_taken) || (is_above && !is_taken);
    std::uint64_t low = -left.constant;
    if (is_less || is_not_more) {
        if (is_less) --most;
        if (most >= largest_bound) return;
    } else if (is_below || is_not_below || is_at_most || is_above) {
        // What is not below -5 without a sign lies in -5 .. -1.
        const std::uint64_t least = is_below || is_not_below ? most : most + 1;
        const std::uint64_t last = cut(~std::uint64_t{0}, comparison_.size);
        if (is_signed || least > last || last - least >= largest_bound) return;
        low -= last - least + 1;
        most = last - least;
    } else {
        return;
    }
    for_each_value([&](Value& value, std::uint64_t) {
        if (value.kind != Value::Kind::Linear || value.scale == 0 || value.id != left.id) return;
        if (value.span != Value::unbounded && value.low == low && value.span <= most) return;
        value.low = low;
        value.span = most;
    });
}

bool RegisterValues::join(const RegisterValues& other, std::uint64_t block) {
    bool has_changed = false;
    const auto join_value = [&](Value& mine, const Value& theirs, std::uint64_t place) {
        if (mine == theirs) return;
        Value met = mine;
        // Values may differ in their limits, and entries in their index.
        met.low = theirs.low;
        met.span = theirs.span;
        met.is_computed = theirs.is_computed;
        if (met == theirs) {
            met.span = mine.low == theirs.low && mine.span != Value::unbounded && theirs.span != Value::unbounded ? std::max(mine.span, theirs.span)
                                                                                                                  : Value::unbounded;
            met.low = met.span == Value::unbounded ? 0 : mine.low;
            met.is_computed = mine.is_computed || theirs.is_computed;
        } else {
            met = symbol(number_of(block, 200 + place), mine.is_computed || theirs.is_computed);
        }
        if (met == mine) return;
        mine = met;
        has_changed = true;
    };
    for (std::size_t i = 0; i < registers_.size(); ++i) join_value(registers_[i], other.registers_[i], i);
    const std::size_t cells = cells_.size();
    std::erase_if(cells_, [&](const Cell& cell) {
        return std::none_of(other.cells_.begin(), other.cells_.end(),
                            [&](const Cell& theirs) { return theirs.id == cell.id && theirs.offset == cell.offset && theirs.size == cell.size; });
    });
    has_changed = has_changed || cells != cells_.size();
    for (Cell& cell : cells_)
        for (const Cell& theirs : other.cells_)
            if (theirs.id == cell.id && theirs.offset == cell.offset) join_value(cell.value, theirs.value, number_of(cell.id, cell.offset));
    if (comparison_.is_known && comparison_ != other.comparison_) {
        comparison_ = {};
        has_changed = true;
    }
    return has_changed;
}

} // namespace libprofile::tools
