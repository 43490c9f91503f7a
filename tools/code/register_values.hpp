// What is known of registers and stack slots at one point of a function, as far as it leads to the tables of a switch: constants, indexes with
// bounds, entries of tables.
// Contract: one thread; allocates a little; throws std::bad_alloc only. A forward data-flow analysis: step() over the instructions of a block,
// assume() on its edges, join() where blocks meet. Joins only lose knowledge, so that it ends.
//
// Not a proof: a store through an unknown pointer is taken not to change stack slots, since compilers keep no index where a pointer leads.
// The reader of a table checks each entry.
#pragma once

#include "tools/code/operands.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// constant + scale * something, or what is read from such an address.
struct Value {
    static constexpr std::uint64_t unbounded = ~std::uint64_t{0};
    enum class Kind : std::uint8_t { Linear, Entry };

    Kind kind = Kind::Linear;
    std::uint8_t width = 0;     // of an Entry, in bytes
    bool is_signed = false;     // the Entry
    bool is_computed = false;   // by arithmetic: no pointer to a function
    std::uint64_t constant = 0; // of an Entry: the address of the table
    std::uint64_t scale = 0;    // 0: the value is the constant
    std::uint64_t id = 0;       // of the something: equal numbers are equal values
    std::uint64_t low = 0;      // the something lies in low .. low + span, unless span is unbounded
    std::uint64_t span = unbounded;
    std::uint64_t added = 0; // to the Entry

    bool is_constant() const { return kind == Kind::Linear && scale == 0; }
    bool is_symbol() const { return kind == Kind::Linear && scale == 1; }
    bool operator==(const Value&) const = default;
};

class RegisterValues {
  public:
    /// At the function's beginning.
    static RegisterValues at_entry();

    /// Goes on behind an instruction that is no jump.
    void step(const ElfCode& code, std::uint64_t address, const CodeAt& at);
    /// What follows from a branch's condition (the lower half of its opcode).
    void assume(unsigned condition, bool is_taken);
    /// Keeps what both know, at the beginning of a block. Returns whether this one lost something.
    bool join(const RegisterValues& other, std::uint64_t block);

    /// The value of a register, or of what memory holds; of eight bytes.
    Value value_of(const ElfCode& code, std::uint64_t address, const Operand& operand) { return read(code, address, operand, 8, false); }
    /// Whether the stack is as it was when the function was called, as it is before a call at its end.
    bool is_frame_gone() const;

  private:
    static constexpr std::size_t stack_pointer = 4, frame_pointer = 5;
    static constexpr std::size_t most_cells = 256;

    /// Known memory.
    struct Cell {
        std::uint64_t id, offset; // where it is
        std::uint8_t size;
        bool is_stack;
        Value value;
        bool operator==(const Cell&) const = default;
    };
    struct Comparison {
        bool is_known = false;
        std::uint8_t size = 0; // bytes
        Value left;
        std::uint64_t right = 0;
        bool operator==(const Comparison&) const = default;
    };

    Value fresh(std::uint64_t address, std::uint64_t slot, bool is_computed);
    Value sum(const Value& a, const Value& b, std::uint64_t address);
    Value scaled(const Value& value, std::uint64_t factor, std::uint64_t address);
    Value address_in(const Operand& memory, std::uint64_t address);
    Value read(const ElfCode& code, std::uint64_t address, const Operand& operand, std::uint8_t size, bool is_signed);
    Value load(const ElfCode& code, std::uint64_t address, const Operand& memory, std::uint8_t size, bool is_signed);
    void write(std::uint64_t address, const Operand& to, std::uint8_t size, const Value& value);
    void store(const Value& where, std::uint8_t size, const Value* value);
    void forget(std::uint64_t id);
    void call(std::uint64_t address);
    void push(std::uint64_t address, const Value& value);
    void binary(const ElfCode& code, std::uint64_t address, const Operation& operation);
    template <class Visit> void for_each_value(Visit visit);

    std::array<Value, 16> registers_{};
    std::vector<Cell> cells_;
    Comparison comparison_;
};

} // namespace libprofile::tools
