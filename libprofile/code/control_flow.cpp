#include "libprofile/code/control_flow.hpp"

#include "libprofile/callpath/exception_table.hpp"
#include "libprofile/code/no_return.hpp"

namespace libprofile {

using Kind = Instruction::Kind;

namespace {

// What begins at a position.
enum Start : std::uint32_t { FallsThrough = 1, JumpedTo = 2, Pad = 4, Catches = 8, AnyInstruction = 16 };
constexpr std::uint32_t starts_block = FallsThrough | JumpedTo | Pad;

/// Successive instructions of a switch before its jump.
constexpr std::uint32_t longest_switch = 40;

} // namespace

/// Finds where blocks begin. block_of_ says how, by position.
bool ControlFlow::find_blocks(const FunctionCode& code) noexcept {
    bool begins = true;
    has_table_jumps_ = false;
    const bool is_known = code.for_each([&](std::uint32_t position, bool, std::uintptr_t at, const Instruction& instruction) {
        block_of_[position] |= begins ? AnyInstruction | FallsThrough : AnyInstruction;
        begins = is_jump(instruction.kind) || instruction.kind == Kind::End || instruction.kind == Kind::IndirectJump || is_call(instruction.kind);
        if (is_jump(instruction.kind)) {
            const std::uint32_t target = code.position(instruction.target);
            if (target != none) block_of_[target] |= JumpedTo;
        }
        has_table_jumps_ = has_table_jumps_ || (instruction.kind == Kind::IndirectJump && is_table_jump(at, instruction));
        // Tables take several more passes over the code, and what large functions have of them costs more than it tells.
        return !has_table_jumps_ || code.size() <= largest_with_tables;
    });
    for (std::uint32_t i = 0; i < code.parts(); ++i) block_of_[code.first_of(i)] |= FallsThrough;
    return is_known;
}

/// Calls visit(position, table) for the jumps of switches. Before that, all that is known of what is jumped to must be in block_of_. Returns false if
/// a jump is not understood, or visit returns false.
template <class Visit> bool ControlFlow::for_each_table(const FunctionCode& code, Visit visit) noexcept {
    std::uintptr_t before[longest_switch];
    std::uint32_t count = 0;
    return code.for_each([&](std::uint32_t position, bool is_last, std::uintptr_t at, const Instruction& instruction) {
        if ((block_of_[position] & (JumpedTo | Pad)) != 0) count = 0;
        if (count == longest_switch) {
            count /= 2;
            std::copy(before + longest_switch - count, before + longest_switch, before);
        }
        before[count++] = at;
        const bool is_table = instruction.kind == Kind::IndirectJump && is_table_jump(at, instruction);
        JumpTable table;
        const bool is_good = !is_table || (find_jump_table(before, count, table) ? visit(position, table) : is_tail_call(before, count));
        if (is_last) count = 0;
        return is_good;
    });
}

/// Adds the cases of a switch. Returns false if one is no instruction of the function, or there are too many.
bool ControlFlow::add_cases(const FunctionCode& code, std::uint32_t position, const JumpTable& table, bool& is_new) noexcept {
    if (!cases_.is_there() && !cases_.make(most_cases)) return false;
    if (switch_count_ == most_switches || table.entries > most_cases - case_count_) return false;
    switches_[switch_count_++] = {position, case_count_, table.entries};
    for (std::uint32_t i = 0; i < table.entries; ++i) {
        const std::uint32_t target = code.position(table.target(i));
        if (target == none || (block_of_[target] & AnyInstruction) == 0) return false;
        is_new = is_new || (block_of_[target] & JumpedTo) == 0;
        block_of_[target] |= JumpedTo;
        cases_[case_count_++] = target;
    }
    return true;
}

/// Finds the switches and their cases, as positions. Returns false if a jump may lead elsewhere.
bool ControlFlow::find_cases(const FunctionCode& code) noexcept {
    constexpr int most_looks = 4;
    switch_count_ = case_count_ = 0;
    bool is_new = has_table_jumps_; // that it is jumped to some place: perhaps into what was taken for straight code
    for (int look = 0; look < most_looks && is_new; ++look) {
        is_new = false;
        switch_count_ = case_count_ = 0;
        if (!for_each_table(code, [&](std::uint32_t position, const JumpTable& table) { return add_cases(code, position, table, is_new); })) return false;
    }
    return !is_new;
}

/// Calls visit(position, first, last, may_catch) for the landing pads, with the positions where exceptions come from. Returns false if they are not all
/// known.
template <class Visit> bool ControlFlow::for_each_pad(const FunctionCode& code, Visit visit) const noexcept {
    for (std::uint32_t i = 0; i < code.parts(); ++i) {
        ExceptionTable table;
        ExceptionTable::LandingPad pad;
        if (!table.find(code.start_of(i))) return false;
        while (table.next(pad)) {
            const std::uint32_t at = code.position(pad.address), first = code.position(pad.from), last = code.position(pad.to - 1);
            if (at == none || first == none || last == none || last < first) return false;
            visit(at, first, last, pad.may_catch);
        }
        if (table.failed()) return false;
    }
    return true;
}

bool ControlFlow::find_pads(const FunctionCode& code) noexcept {
    return for_each_pad(code, [&](std::uint32_t at, std::uint32_t, std::uint32_t, bool may_catch) { block_of_[at] |= may_catch ? Pad | Catches : Pad; });
}

bool ControlFlow::build(const FunctionCode& code, FindCode find_code) noexcept {
    if (!block_of_.make(code.size()) || !find_blocks(code)) return false;
    are_pads_known_ = find_pads(code);
    cases_.release();
    if (!find_cases(code)) return false;
    count_ = 0;
    for (std::uint32_t i = 0; i < code.size(); ++i)
        if ((block_of_[i] & starts_block) != 0) ++count_;
    if (!blocks_.make(count_)) return false;
    // block_of_ becomes the number of the block. is_to remembers the blocks that are jumped to.
    std::uint32_t number = none;
    for (std::uint32_t i = 0; i < code.size(); ++i) {
        if ((block_of_[i] & starts_block) != 0) {
            ++number;
            blocks_[number] = Block();
            blocks_[number].is_to = (block_of_[i] & JumpedTo) != 0;
            blocks_[number].is_pad = (block_of_[i] & Pad) != 0;
            blocks_[number].catches = (block_of_[i] & Catches) != 0;
        }
        block_of_[i] = number;
    }
    for (entries_ = 0; entries_ < code.parts(); ++entries_) {
        entry_[entries_] = block_of_[code.first_of(entries_)];
        is_target_[entries_] = blocks_[entry_[entries_]].is_to || blocks_[entry_[entries_]].is_pad;
    }
    for (std::uint32_t i = 0; i < case_count_; ++i) cases_[i] = block_of_[cases_[i]];
    for (std::uint32_t i = 0; i < switch_count_; ++i) {
        Block& block = blocks_[block_of_[switches_[i].position]];
        block.case_of = switches_[i].first;
        block.cases = switches_[i].count;
    }
    for_each_pad(code, [&](std::uint32_t at, std::uint32_t first, std::uint32_t last, bool may_catch) {
        for (std::uint32_t i = block_of_[first]; may_catch && i <= block_of_[last]; ++i) blocks_[i].pad = block_of_[at];
    });
    NoReturn no_return(find_code);
    code.for_each([&](std::uint32_t position, bool is_last, std::uintptr_t at, const Instruction& instruction) {
        Block& block = blocks_[block_of_[position]];
        const std::uint32_t behind = is_last ? none : block_of_[position + instruction.length];
        if (is_jump(instruction.kind)) {
            const std::uint32_t target = code.position(instruction.target);
            if (target != none) block.target = block_of_[target];
            block.jumps_away = target == none;
        }
        block.jumps_away = block.jumps_away || (instruction.kind == Kind::IndirectJump && block.cases == 0);
        block.returns = block.returns || is_return(at, instruction);
        const bool goes_on = instruction.kind != Kind::Jump && instruction.kind != Kind::End && instruction.kind != Kind::IndirectJump;
        if (!goes_on || behind == none || behind == block_of_[position]) return true;
        // Only exceptions lead to a landing pad. A call in front of one, such as that which resumes unwinding, never returns.
        if (blocks_[behind].is_pad) return true;
        block.ends_with_call = is_call(instruction.kind) && leads_to_target(code, position + instruction.length);
        if (!block.ends_with_call || !no_return.is_made_by(instruction)) block.next = behind;
        return true;
    });
    return find_predecessors();
}

/// Whether the code at this position is jumped to, or padding in front of such code.
bool ControlFlow::leads_to_target(const FunctionCode& code, std::uint32_t position) const noexcept {
    while (position < code.size() && !blocks_[block_of_[position]].is_to) {
        const Instruction next = code.instruction_at(position);
        if (next.kind != Kind::Nop) return false;
        position += next.length;
    }
    return position < code.size();
}

bool ControlFlow::find_predecessors() noexcept {
    is_strict_ = false;
    if (!waiting_.make(count_ + 1) || !first_before_.make(count_ + 2) || !before_.make(2 * count_ + case_count_)) return false;
    std::uint32_t* const first = &first_before_[1];
    for (std::uint32_t i = 0; i < count_; ++i) for_each_successor(i, [&](std::uint32_t to) { ++first[to + 1]; });
    for (std::uint32_t i = 0; i < count_; ++i) first[i + 1] += first[i];
    for (std::uint32_t i = 0; i < count_; ++i) // moves the beginnings up by one block
        for_each_successor(i, [&](std::uint32_t to) { before_[first[to]++] = i; });
    return true;
}

Nesting ControlFlow::nesting(std::uint32_t often_at, std::uint32_t seldom_at, bool is_strict, std::uint64_t& steps) noexcept {
    steps_ = &steps;
    is_strict_ = is_strict;
    often_ = block_of_[often_at];
    seldom_ = block_of_[seldom_at];
    find_live();
    if (!narrow(often_) || !blocks_[seldom_].is_in) return Nesting::Unknown; // no loop has both
    for (;;) {
        const bool is_left_out = is_left_out_of_pass({&seldom_at, 1});
        if (!drop_heads()) return Nesting::Unknown;
        if (!narrow(often_)) return Nesting::Same;
        if (!blocks_[seldom_].is_in) return is_left_out ? Nesting::Sometimes : Nesting::Around;
    }
}

/// Returns ask() for the innermost loop with a call, `if_none` if there is no loop.
template <class Ask> bool ControlFlow::of_innermost(std::uint32_t in_at, bool if_none, std::uint64_t& steps, Ask ask) noexcept {
    steps_ = &steps;
    is_strict_ = false;
    often_ = block_of_[in_at];
    find_live();
    if (!narrow(often_)) return if_none;
    for (;;) {
        const bool answer = ask();
        if (!drop_heads()) return if_none;
        if (!narrow(often_)) return answer;
    }
}

bool ControlFlow::is_in_loop(std::uint32_t at, std::uint64_t& steps) noexcept {
    bool is_in = false;
    of_innermost(at, false, steps, [&] { return is_in = true; });
    return is_in;
}

bool ControlFlow::is_nested(std::uint32_t in_at, std::uint64_t& steps) noexcept {
    std::uint32_t loops = 0;
    of_innermost(in_at, false, steps, [&] { return ++loops, true; });
    return loops > 1;
}

bool ControlFlow::may_pass_without(std::uint32_t in_at, Calls others, std::uint64_t& steps) noexcept {
    return of_innermost(in_at, true, steps, [&] { return is_left_out_of_pass(others); });
}

bool ControlFlow::may_pass_through(std::uint32_t in_at, std::uint32_t through_at, Calls others, std::uint64_t& steps) noexcept {
    return of_innermost(in_at, false, steps, [&] { return is_made_without(block_of_[through_at], others); });
}

bool ControlFlow::may_end_without(Calls calls, Ends ends, std::uint64_t& steps) noexcept {
    steps_ = &steps;
    is_strict_ = false;
    for (std::uint32_t i = 0; i < count_; ++i) {
        blocks_[i].is_in = true;
        blocks_[i].is_from = false;
    }
    return without(calls, [&] {
        // A part kept apart (`.cold`) may begin with code that only an exception reaches.
        for (std::uint32_t i = 0; i < (is_target_[0] ? entries_ : 1); ++i)
            if (!is_target_[i]) blocks_[entry_[i]].is_from = true;
        for (std::uint32_t i = 0; i < count_; ++i)
            if (blocks_[i].is_from) push(i);
        work_off([&](std::uint32_t number) {
            if (!blocks_[number].is_in) return;
            for_each_successor(number, [&](std::uint32_t to) { reach(to, &Block::is_from); });
            if (blocks_[number].pad != none) reach(blocks_[number].pad, &Block::is_from);
        });
        bool found = false;
        for (std::uint32_t i = 0; i < count_ && !found; ++i) {
            const Block& block = blocks_[i];
            found = block.is_from && block.is_in && (block.returns || (block.jumps_away && ends == Ends::ReturnOrJump));
        }
        return found;
    });
}

bool ControlFlow::may_make_both(std::uint32_t in_at, std::uint32_t one_at, std::uint32_t other_at, std::uint64_t& steps) noexcept {
    const std::uint32_t one = block_of_[one_at], other = block_of_[other_at];
    // Where a loop is entered at several places, it is unclear where a pass begins.
    return of_innermost(in_at, true, steps, [&] { return is_made_behind(one, other) || is_made_behind(other, one) || has_several_heads(); });
}

bool ControlFlow::may_catch_before(std::uint32_t call_at, std::uint64_t& steps) noexcept {
    if (!are_pads_known_) return true;
    steps_ = &steps;
    is_strict_ = false;
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_from = blocks_[i].catches;
    spread(&Block::is_from, [](const Block&) { return true; });
    return blocks_[block_of_[call_at]].is_from;
}

/// Marked blocks pass the mark on to their successors if goes_on(block).
template <class GoesOn> void ControlFlow::spread(bool Block::*mark, GoesOn goes_on) noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
        if (blocks_[i].*mark) push(i);
    work_off([&](std::uint32_t number) {
        if (goes_on(blocks_[number])) for_each_successor(number, [&](std::uint32_t to) { reach(to, mark); });
    });
}

/// The set becomes all that can be reached.
void ControlFlow::find_live() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_live = false;
    for (std::uint32_t i = 0; i < entries_; ++i) blocks_[entry_[i]].is_live = !blocks_[entry_[i]].is_pad;
    spread(&Block::is_live, [](const Block&) { return true; });
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_in = blocks_[i].is_live;
}

/// Finds the blocks of the set on a way from `of`, which is one of them, back to it: is_from and is_to.
void ControlFlow::find_cycle(std::uint32_t of) noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_from = blocks_[i].is_to = false;
    const auto reach_in = [this](std::uint32_t number, bool Block::*mark) {
        if (blocks_[number].is_in) reach(number, mark);
    };
    push(of);
    work_off([&](std::uint32_t number) { for_each_successor(number, [&](std::uint32_t to) { reach_in(to, &Block::is_from); }); });
    push(of);
    work_off([&](std::uint32_t number) { for_each_predecessor(number, [&](std::uint32_t from) { reach_in(from, &Block::is_to); }); });
}

bool ControlFlow::has_cycle(std::uint32_t of) noexcept {
    if (!blocks_[of].is_in || !take_steps(count_)) return false;
    find_cycle(of);
    return blocks_[of].is_from && blocks_[of].is_to;
}

/// The set becomes the loop of `of` inside it. Returns false if there is none.
bool ControlFlow::narrow(std::uint32_t of) noexcept {
    if (!has_cycle(of)) return false;
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_in = blocks_[i].is_in && blocks_[i].is_from && blocks_[i].is_to;
    return true;
}

void ControlFlow::find_heads() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_head = false;
    for_each_head([&](std::uint32_t head) { blocks_[head].is_head = true; });
}

/// Returns ask() with these calls' blocks taken out of the set.
template <class Ask> bool ControlFlow::without(Calls calls, Ask ask) noexcept {
    bool had[Calls::most] = {};
    for (std::uint32_t i = 0; i < calls.count; ++i) std::swap(had[i], blocks_[block_of_[calls.at[i]]].is_in);
    const bool answer = ask();
    for (std::uint32_t i = calls.count; i-- > 0;)
        if (had[i]) blocks_[block_of_[calls.at[i]]].is_in = true;
    return answer;
}

/// Whether a pass of the loop may leave these out.
bool ControlFlow::is_left_out_of_pass(Calls calls) noexcept {
    find_heads();
    return without(calls, [&] {
        bool found = false;
        for (std::uint32_t i = 0; i < count_ && !found; ++i) found = blocks_[i].is_head && has_cycle(i);
        return found;
    });
}

/// Whether a pass of the loop may go through the one and leave out the others.
bool ControlFlow::is_made_without(std::uint32_t through, Calls others) noexcept {
    find_heads();
    return without(others, [&] {
        bool found = false;
        if (has_cycle(through))
            for (std::uint32_t i = 0; i < count_ && !found; ++i)
                found = blocks_[i].is_in && blocks_[i].is_head && (i == through || (blocks_[i].is_from && blocks_[i].is_to));
        return found;
    });
}

/// Whether a pass of the loop may go on from the first to the second.
bool ControlFlow::is_made_behind(std::uint32_t first, std::uint32_t second) noexcept {
    find_heads();
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_from = false;
    push(first);
    work_off([&](std::uint32_t number) {
        for_each_successor(number, [&](std::uint32_t to) {
            if (blocks_[to].is_in && !blocks_[to].is_head) reach(to, &Block::is_from);
        });
    });
    return blocks_[second].is_from;
}

/// After find_heads().
bool ControlFlow::has_several_heads() const noexcept {
    std::uint32_t heads = 0;
    for (std::uint32_t i = 0; i < count_; ++i) heads += blocks_[i].is_head ? 1 : 0;
    return heads > 1;
}

/// Removes the blocks by which the loop is entered. Returns false if there are none.
bool ControlFlow::drop_heads() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) blocks_[i].is_from = false;
    bool found = false;
    for_each_head([&](std::uint32_t head) { found = blocks_[head].is_from = true; });
    for (std::uint32_t i = 0; i < count_; ++i)
        if (blocks_[i].is_from) blocks_[i].is_in = false;
    return found;
}

} // namespace libprofile
