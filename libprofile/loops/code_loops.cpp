#include "libprofile/loops/code_loops.hpp"

#include "libprofile/boundaries/instruction.hpp"
#include "libprofile/session/scratch.hpp"

namespace libprofile {

#if defined(__x86_64__)

namespace {

using Kind = Instruction::Kind;
constexpr std::uint32_t none = 0xffffffffu;

/// Instructions that follow each other; only the first is jumped to.
struct Block {
    std::uint32_t next = none;   // behind it
    std::uint32_t target = none; // of the jump at its end
    bool ends_with_call = false; // and what is behind it is jumped to from elsewhere
    bool is_live = false;        // can be reached
    bool is_in = false;          // in the loop that is looked at
    bool is_from = false;        // can be reached from the one that is asked for
    bool is_to = false;          // reaches it
    bool is_head = false;        // the loop is entered here
};

/// The parts of the function, as if they lay behind each other.
class Code {
  public:
    bool add(std::uintptr_t address, FindCode find_code) noexcept {
        if (position(address) != none) return true;
        Part& part = parts_[count_];
        if (count_ == most || !find_code(address, part.start, part.end) || part.end - part.start > largest - size_) return false;
        part.first = size_;
        size_ += static_cast<std::uint32_t>(part.end - part.start);
        ++count_;
        return true;
    }
    std::uint32_t size() const { return size_; }
    /// none: elsewhere.
    std::uint32_t position(std::uintptr_t address) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (address >= parts_[i].start && address < parts_[i].end) return parts_[i].first + static_cast<std::uint32_t>(address - parts_[i].start);
        return none;
    }
    /// Calls visit(position, end, instruction) for all, in order; `end`: the last of its part. False: not all are understood, or visit says so.
    template <class Visit> bool for_each(Visit visit) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i) {
            for (std::uintptr_t at = parts_[i].start; at < parts_[i].end;) {
                const Instruction instruction = decode(at, parts_[i].end - at);
                if (instruction.kind == Kind::Unknown || instruction.length == 0) return false;
                const std::uintptr_t next = at + instruction.length;
                if (!visit(parts_[i].first + static_cast<std::uint32_t>(at - parts_[i].start), next >= parts_[i].end, at, instruction)) return false;
                at = next;
            }
        }
        return true;
    }
    std::uint32_t parts() const { return count_; }
    std::uint32_t first_of(std::uint32_t part) const { return parts_[part].first; }

  private:
    struct Part {
        std::uintptr_t start, end;
        std::uint32_t first;
    };
    static constexpr std::uint32_t most = 8;
    static constexpr std::uint32_t largest = 128 << 10;
    Part parts_[most];
    std::uint32_t count_ = 0;
    std::uint32_t size_ = 0;
};

/// `jmp *%reg` and `jmp *(base,index,scale)`: through a table most often. Others through memory are calls at the end of a function.
bool is_table_jump(std::uintptr_t at, const Instruction& instruction) noexcept {
    const auto* end = reinterpret_cast<const unsigned char*>(at) + instruction.length;
    const auto* begin = reinterpret_cast<const unsigned char*>(at);
    std::size_t opcode = 0;
    while (opcode + 1 < instruction.length && begin[opcode] != 0xff) ++opcode; // behind prefixes
    const bool has_index = opcode + 2 < instruction.length && (begin[opcode + 1] & 0xc7) != 0xc4 && begin[opcode + 1] < 0xc0 &&
                           (begin[opcode + 1] & 7) == 4 && (begin[opcode + 2] & 0x38) != 0x20;
    return instruction.table != 0 || has_index || (instruction.length >= 2 && end[-2] == 0xff && end[-1] >= 0xc0);
}

bool is_jump(Kind kind) noexcept { return kind == Kind::Jump || kind == Kind::Branch || kind == Kind::ShortBranch; }
bool is_call(Kind kind) noexcept { return kind == Kind::Call || kind == Kind::IndirectCall; }

class Flow {
  public:
    explicit Flow(const Code& code) noexcept : code_(&code) {}

    bool build() noexcept {
        if (!block_of_.make(code_->size())) return false;
        bool begins = true; // a block
        const auto is_first = [&](std::uint32_t position) { return position != none && position < code_->size(); };
        const bool is_known = code_->for_each([&](std::uint32_t position, bool, std::uintptr_t at, const Instruction& instruction) {
            if (begins && block_of_[position] == 0) block_of_[position] = 1; // a jump may have come here before
            begins = is_jump(instruction.kind) || instruction.kind == Kind::End || instruction.kind == Kind::IndirectJump || is_call(instruction.kind);
            if (is_jump(instruction.kind)) {
                const std::uint32_t target = code_->position(instruction.target);
                if (is_first(target)) block_of_[target] = 2;
            }
            return instruction.kind != Kind::IndirectJump || !is_table_jump(at, instruction);
        });
        if (!is_known) return false;
        for (std::uint32_t i = 0; i < code_->parts(); ++i)
            if (block_of_[code_->first_of(i)] == 0) block_of_[code_->first_of(i)] = 1;
        for (std::uint32_t i = 0; i < code_->size(); ++i)
            if (block_of_[i] != 0) ++count_;
        if (!blocks_.make(count_)) return false;
        // What begins a block becomes its number; what is jumped to is remembered by its is_to.
        std::uint32_t number = none;
        for (std::uint32_t i = 0; i < code_->size(); ++i) {
            if (block_of_[i] != 0) {
                ++number;
                blocks_[number] = Block();
                blocks_[number].is_to = block_of_[i] == 2;
            }
            block_of_[i] = number;
        }
        code_->for_each([&](std::uint32_t position, bool is_last, std::uintptr_t, const Instruction& instruction) {
            Block& block = blocks_[block_of_[position]];
            const std::uint32_t behind = is_last ? none : block_of_[position + instruction.length];
            if (is_jump(instruction.kind)) {
                const std::uint32_t target = code_->position(instruction.target);
                if (target != none) block.target = block_of_[target];
            }
            const bool goes_on = instruction.kind != Kind::Jump && instruction.kind != Kind::End && instruction.kind != Kind::IndirectJump;
            if (goes_on && behind != none && behind != block_of_[position]) block.next = behind;
            if (behind != none && is_call(instruction.kind)) block.ends_with_call = blocks_[behind].is_to;
            return true;
        });
        return true;
    }

    /// `is_strict`: calls other than these two do not go on to what is jumped to.
    Nesting nesting(std::uint32_t often_at, std::uint32_t seldom_at, bool is_strict) noexcept {
        is_strict_ = is_strict;
        often_ = block_of_[often_at];
        seldom_ = block_of_[seldom_at];
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_in = true;
        find_live();
        if (!narrow(often_) || !blocks_[seldom_].is_in) return Nesting::Unknown; // no loop has both
        for (;;) {
            const bool is_left_out = is_left_out_of_pass(seldom_, seldom_);
            if (!drop_heads()) return Nesting::Unknown;
            if (!blocks_[often_].is_in || !has_cycle(often_)) return Nesting::Same;
            narrow(often_);
            if (!blocks_[seldom_].is_in) return is_left_out ? Nesting::Sometimes : Nesting::Around;
        }
    }

    bool may_pass_without(std::uint32_t in_at, std::uint32_t one_at, std::uint32_t other_at) noexcept {
        is_strict_ = false;
        often_ = block_of_[in_at];
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_in = true;
        find_live();
        if (!narrow(often_)) return true;
        for (;;) {
            const bool is_left_out = is_left_out_of_pass(block_of_[one_at], block_of_[other_at]);
            if (!drop_heads()) return true;
            if (!blocks_[often_].is_in || !narrow(often_)) return is_left_out;
        }
    }

  private:
    template <class Visit> void for_each_successor(std::uint32_t number, Visit visit) const noexcept {
        const Block& block = blocks_[number];
        if (block.target != none) visit(block.target);
        if (block.next != none && !(is_strict_ && block.ends_with_call && number != often_ && number != seldom_)) visit(block.next);
    }

    void find_live() noexcept {
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_live = false;
        for (std::uint32_t i = 0; i < code_->parts(); ++i) blocks_[block_of_[code_->first_of(i)]].is_live = true;
        sweep([&](std::uint32_t i) {
            bool changed = false;
            if (blocks_[i].is_live) for_each_successor(i, [&](std::uint32_t to) {
                changed = changed || !blocks_[to].is_live;
                blocks_[to].is_live = true;
            });
            return changed;
        });
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_in = blocks_[i].is_live;
    }

    template <class Step> void sweep(Step step) const noexcept {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::uint32_t i = 0; i < count_; ++i) changed = step(i) || changed;
            for (std::uint32_t i = count_; i-- > 0;) changed = step(i) || changed;
        }
    }

    /// What lies, within the set, on a way from `of` back to it: is_from and is_to.
    void find_cycle(std::uint32_t of) noexcept {
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_from = blocks_[i].is_to = false;
        sweep([&](std::uint32_t i) {
            Block& block = blocks_[i];
            if (!block.is_in) return false;
            bool changed = false;
            for_each_successor(i, [&](std::uint32_t to) {
                Block& other = blocks_[to];
                if (!other.is_in) return;
                if ((i == of || block.is_from) && !other.is_from) changed = other.is_from = true;
                if ((to == of || other.is_to) && !block.is_to) changed = block.is_to = true;
            });
            return changed;
        });
    }
    bool has_cycle(std::uint32_t of) noexcept {
        if (!blocks_[of].is_in) return false;
        find_cycle(of);
        return blocks_[of].is_from && blocks_[of].is_to;
    }
    /// The set becomes the loop of `of` that is in it. False: there is none.
    bool narrow(std::uint32_t of) noexcept {
        if (!has_cycle(of)) return false;
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_in = blocks_[i].is_in && blocks_[i].is_from && blocks_[i].is_to;
        return true;
    }
    template <class Visit> void for_each_head(Visit visit) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (blocks_[i].is_live && !blocks_[i].is_in) for_each_successor(i, [&](std::uint32_t to) {
                if (blocks_[to].is_in) visit(to);
            });
    }
    /// A pass of the loop may go by without these.
    bool is_left_out_of_pass(std::uint32_t one, std::uint32_t other) noexcept {
        bool found = false;
        const bool had_one = blocks_[one].is_in, had_other = blocks_[other].is_in;
        blocks_[one].is_in = blocks_[other].is_in = false;
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_head = false;
        for_each_head([&](std::uint32_t head) { blocks_[head].is_head = head != one && head != other; });
        for (std::uint32_t i = 0; i < count_ && !found; ++i) found = blocks_[i].is_head && has_cycle(i);
        blocks_[other].is_in = had_other;
        blocks_[one].is_in = had_one;
        return found;
    }
    /// False: it has none.
    bool drop_heads() noexcept {
        for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_from = false;
        bool found = false;
        for_each_head([&](std::uint32_t head) { found = blocks_[head].is_from = true; });
        for (std::uint32_t i = 0; i < count_; ++i)
            if (blocks_[i].is_from) blocks_[i].is_in = false;
        return found;
    }

    const Code* code_;
    Scratch<std::uint32_t> block_of_; // by position in the code
    Scratch<Block> blocks_;
    std::uint32_t count_ = 0;
    std::uint32_t often_ = 0, seldom_ = 0;
    bool is_strict_ = false;
};

/// The function with this call.
bool read(Code& code, std::uintptr_t call, FindCode find_code) noexcept {
    if (!code.add(call, find_code)) return false;
    // Compilers keep what is seldom done in a part of its own.
    const Code main = code;
    return main.for_each([&](std::uint32_t, bool, std::uintptr_t, const Instruction& instruction) {
        if (is_jump(instruction.kind)) code.add(instruction.target, find_code); // else it is another function's
        return true;
    });
}

} // namespace

NestingAnswer nesting_of(std::uintptr_t often, std::uintptr_t seldom, FindCode find_code) noexcept {
    Code code;
    if (!read(code, often, find_code) || !code.add(seldom, find_code)) return {};
    Flow flow(code);
    if (!flow.build()) return {};
    const std::uint32_t often_at = code.position(often), seldom_at = code.position(seldom);
    const Nesting nesting = flow.nesting(often_at, seldom_at, false);
    return {nesting, nesting != Nesting::Unknown && flow.nesting(often_at, seldom_at, true) == nesting};
}

bool may_pass_without(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other, FindCode find_code) noexcept {
    Code code;
    if (!read(code, in, find_code) || !code.add(one, find_code) || !code.add(other, find_code)) return true;
    Flow flow(code);
    return !flow.build() || flow.may_pass_without(code.position(in), code.position(one), code.position(other));
}

#else

bool may_pass_without(std::uintptr_t, std::uintptr_t, std::uintptr_t, FindCode) noexcept { return true; }
NestingAnswer nesting_of(std::uintptr_t, std::uintptr_t, FindCode) noexcept { return {}; }

#endif

} // namespace libprofile
