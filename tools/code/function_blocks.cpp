#include "tools/code/function_blocks.hpp"

#include "libprofile/code/function_code.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace libprofile::tools {

using Flow = Instruction::Kind;

FunctionBlocks::FunctionBlocks(const ElfCode& code, std::uint64_t address, NeverReturns never_returns) : code_(code), never_returns_(std::move(never_returns)) {
    const CodePart* range = code.part_of(address);
    if (range == nullptr) {
        fail("no function is known", address);
        return;
    }
    add_part(*range, !range->is_inner);
    restart();
    do {
        do {
            discover();
            make_blocks();
        } while (is_understood() && find_dead_calls());
    } while (is_understood() && !register_jumps_.empty() && read_tables());
    if (is_understood() && !register_jumps_.empty()) fail("no table is known for the jump", *register_jumps_.begin());
    for (const Part& part : parts_) ranges_.push_back(part.range);
    parts_.clear();
}

void FunctionBlocks::fail(const char* what, std::uint64_t address) {
    if (problem_.empty()) problem_ = fmt::format("{} at {:#x}", what, address);
}

FunctionBlocks::Part* FunctionBlocks::part_of(std::uint64_t address) {
    for (Part& part : parts_)
        if (address >= part.range.begin && address < part.range.end) return &part;
    return nullptr;
}

std::uint8_t& FunctionBlocks::mark(std::uint64_t address) {
    Part& part = *part_of(address);
    return part.marks[address - part.range.begin];
}

/// Whether an address may be one of the function's instructions: those are written one behind the other.
bool FunctionBlocks::may_be_own(std::uint64_t address) {
    if (Part* part = part_of(address)) {
        if (part->is_start.empty()) {
            part->is_start.resize(part->marks.size());
            std::uint64_t at = part->range.begin;
            while (at < part->range.end) {
                const Instruction instruction = code_.at(at, part->range.end).instruction;
                if (instruction.kind == Flow::Unknown) break;
                part->is_start[at - part->range.begin] = true;
                at += instruction.length;
            }
            // Behind data in code, nothing is known.
            for (; at < part->range.end; ++at) part->is_start[at - part->range.begin] = true;
        }
        return part->is_start[address - part->range.begin];
    }
    const CodePart* range = code_.part_of(address);
    return range != nullptr && (range->is_inner || (address != range->begin && jumps_back(*range)));
}

void FunctionBlocks::add_part(const CodePart& range, bool is_entry) {
    if (parts_.size() == most_parts) return fail("too many parts, one of them", range.begin);
    parts_.push_back({range, std::vector<std::uint8_t>(range.end - range.begin), landing_pads(code_, range), {}, is_entry});
    if (is_entry) waiting_.push_back(range.begin);
}

/// Whether a range jumps into the middle of one that is known: then it is a part of the function, as seldom code is, even if it has no frame.
bool FunctionBlocks::jumps_back(const CodePart& range) {
    constexpr std::uint64_t largest = 16 << 10;
    if (range.end - range.begin > largest) return false;
    for (std::uint64_t at = range.begin; at < range.end;) {
        const Instruction instruction = code_.at(at, range.end).instruction;
        if (instruction.kind == Flow::Unknown) return false;
        if (is_jump(instruction.kind)) {
            const Part* part = part_of(instruction.target);
            if (part != nullptr && instruction.target != part->range.begin) return true;
        }
        at += instruction.length;
    }
    return false;
}

/// Goes on at the target of a jump. Returns false if it lies in another function.
bool FunctionBlocks::lead_to(std::uint64_t target, std::uint64_t from) {
    Part* part = part_of(target);
    if (part == nullptr) {
        const CodePart* range = code_.part_of(target);
        const bool is_begin = range != nullptr && target == range->begin;
        if (range == nullptr || (is_begin && !range->is_inner && !jumps_back(*range))) return false;
        add_part(*range, !is_begin && !range->is_inner);
        if (!is_understood()) return true;
        part = part_of(target);
    } else if (target == part->range.begin && part == parts_.data() && part_of(from) != part && parts_.size() > 1) {
        // The part that was asked for turns out to be entered from another one.
        part->is_entry = part->is_entry && std::none_of(parts_.begin() + 1, parts_.end(), [](const Part& other) { return other.is_entry; });
    }
    std::uint8_t& marks = part->marks[target - part->range.begin];
    if ((marks & block_mark) == 0) waiting_.push_back(target);
    marks |= block_mark;
    return true;
}

/// Where an exception of that call goes on; 0: not here.
std::uint64_t FunctionBlocks::pad_of(std::uint64_t call) {
    const Part* part = part_of(call);
    if (part == nullptr) return 0;
    auto after = std::upper_bound(part->pads.begin(), part->pads.end(), call, [](std::uint64_t value, const LandingPad& pad) { return value < pad.begin; });
    if (after == part->pads.begin() || call >= std::prev(after)->end) return 0;
    return std::prev(after)->pad;
}

/// Whether the call is known not to return.
bool FunctionBlocks::is_dead(std::uint64_t at, const Instruction& call) const {
    return dead_calls_.count(at) != 0 || (code_.callee(call) == 0 && never_returns_(call));
}

void FunctionBlocks::restart() {
    for (Part& part : parts_) {
        std::fill(part.marks.begin(), part.marks.end(), std::uint8_t{0});
        if (part.is_entry || &part == parts_.data()) lead_to(part.range.begin, part.range.begin);
    }
    register_jumps_.clear();
    tail_calls_.clear();
    data_.clear();
    may_return_ = false;
}

void FunctionBlocks::discover() {
    while (!waiting_.empty() && is_understood()) {
        const std::uint64_t address = waiting_.back();
        waiting_.pop_back();
        mark(address) |= block_mark;
        walk(address);
    }
}

/// The function ends with a jump into another one.
void FunctionBlocks::leave_by(std::uint64_t at, const Instruction& jump) {
    if (const std::uint64_t function = code_.callee(jump); function != 0)
        tail_calls_.insert(function);
    else if (!is_dead(at, jump))
        may_return_ = true;
}

void FunctionBlocks::take_jump(std::uint64_t at, const CodeAt& jump) {
    const auto table = tables_.find(at);
    if (table == tables_.end()) {
        if (jump.instruction.operand != 0) return leave_by(at, jump.instruction);
        register_jumps_.insert(at);
        return;
    }
    if (table->second.kind == JumpTargets::Kind::Away && table->second.others.empty()) may_return_ = true;
    tail_calls_.insert(table->second.others.begin(), table->second.others.end());
    for (const std::uint64_t target : table->second.targets)
        if (!lead_to(target, at)) fail("a table leads elsewhere, for the jump", at);
}

/// Follows the code from an address to the first jump, or to code that is known.
void FunctionBlocks::walk(std::uint64_t address) {
    const std::uint64_t end = part_of(address)->range.end;
    for (std::uint64_t at = address; at < end;) {
        std::uint8_t& marks = mark(at); // parts_ may have grown
        if ((marks & instruction_mark) != 0) return;
        marks |= instruction_mark;
        const CodeAt code = code_.at(at, end);
        const Instruction& instruction = code.instruction;
        if (instruction.displacement_at != 0) data_.insert(instruction.operand);
        if (instruction.table != 0) data_.insert(instruction.table);
        switch (instruction.kind) {
        case Flow::Unknown: return fail("an instruction is unknown", at);
        case Flow::Jump:
            if (!lead_to(instruction.target, at)) leave_by(at, instruction);
            return;
        case Flow::Branch:
        case Flow::ShortBranch:
            if (!lead_to(instruction.target, at)) leave_by(at, instruction);
            if (at + instruction.length < end) lead_to(at + instruction.length, at);
            return;
        case Flow::IndirectJump: return take_jump(at, code);
        case Flow::End:
            if (is_return(reinterpret_cast<std::uintptr_t>(code.bytes), instruction)) may_return_ = true;
            return;
        case Flow::Call:
        case Flow::IndirectCall:
            if (const std::uint64_t pad = pad_of(at); pad != 0) lead_to(pad, at);
            if (is_dead(at, instruction)) return;
            break;
        case Flow::Plain:
        case Flow::Nop: break;
        }
        at += instruction.length;
    }
    // Behind the end: after a call that does not return, or where the compiler knows that nothing comes.
}

/// Asks of calls whether they never return, where it matters: if they are followed by code that is also jumped to, or by nothing. What a jump
/// through a register leads to is not known yet, so all of them are asked then. Returns whether some do not.
bool FunctionBlocks::find_dead_calls() {
    bool found = false;
    for (const CodeCall& call : calls_) {
        const CodeBlock& block = blocks_[call.block];
        if (call.at != block.last && register_jumps_.empty()) continue;
        const Instruction instruction = code_.at(call.at, block.end).instruction;
        if (code_.callee(instruction) == 0 || dead_calls_.count(call.at) != 0 || !never_returns_(instruction)) continue;
        dead_calls_.insert(call.at);
        found = true;
    }
    if (found) restart();
    return found;
}

/// A block to the next jump or block, or to a call behind which a block begins.
void FunctionBlocks::make_block(CodeBlock& block, std::vector<std::uint64_t>& targets) {
    const Part& part = *part_of(block.begin);
    const std::uint64_t end = part.range.end;
    const auto begins_block = [&](std::uint64_t address) { return (part.marks[address - part.range.begin] & block_mark) != 0; };
    for (std::uint64_t at = block.begin; at < end;) {
        const CodeAt code = code_.at(at, end);
        const Instruction& instruction = code.instruction;
        const std::uint64_t next = at + instruction.length;
        block.last = at;
        block.end = next;
        if (is_jump(instruction.kind)) {
            if (part_of(instruction.target) != nullptr) targets.push_back(instruction.target);
        } else if (instruction.kind == Flow::IndirectJump) {
            const auto table = tables_.find(at);
            if (table != tables_.end()) targets.insert(targets.end(), table->second.targets.begin(), table->second.targets.end());
        } else if (is_call(instruction.kind)) {
            calls_.push_back({at, instruction.target, static_cast<std::uint32_t>(blocks_.size())});
            if (const std::uint64_t pad = pad_of(at); pad != 0 && part_of(pad) != nullptr) targets.push_back(pad);
        }
        const bool ends = instruction.kind == Flow::Jump || instruction.kind == Flow::IndirectJump || instruction.kind == Flow::End ||
                          (is_call(instruction.kind) && is_dead(at, instruction));
        if (ends || next >= end) return;
        // A call before padding ends its block, so that it is asked whether it returns.
        const bool is_padded = is_call(instruction.kind) && code_.at(next, end).instruction.kind == Flow::Nop;
        if (begins_block(next) || is_padded || is_jump(instruction.kind)) {
            targets.push_back(next);
            if (!begins_block(next)) mark(next) |= block_mark;
            return;
        }
        at = next;
    }
}

void FunctionBlocks::make_blocks() {
    blocks_.clear();
    successors_.clear();
    calls_.clear();
    entries_.clear();
    if (!is_understood()) return;
    // Blocks that begin while others are made lie behind them.
    std::vector<std::vector<std::uint64_t>> targets;
    std::vector<Part*> by_address;
    for (Part& part : parts_) by_address.push_back(&part);
    std::sort(by_address.begin(), by_address.end(), [](const Part* a, const Part* b) { return a->range.begin < b->range.begin; });
    for (const Part* part : by_address)
        for (std::size_t i = 0; i < part->marks.size(); ++i) {
            if ((part->marks[i] & block_mark) == 0) continue;
            CodeBlock block;
            block.begin = part->range.begin + i;
            make_block(block, targets.emplace_back());
            blocks_.push_back(block);
        }
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        std::vector<std::uint32_t> numbers;
        for (const std::uint64_t target : targets[i])
            if (const std::uint32_t number = block_of(target); number != none) numbers.push_back(number);
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        blocks_[i].first_successor = static_cast<std::uint32_t>(successors_.size());
        blocks_[i].successors = static_cast<std::uint32_t>(numbers.size());
        successors_.insert(successors_.end(), numbers.begin(), numbers.end());
    }
    for (const Part& part : parts_)
        if (part.is_entry) entries_.push_back(block_of(part.range.begin));
    if (entries_.empty()) entries_.push_back(block_of(parts_.front().range.begin));
}

std::uint32_t FunctionBlocks::block_of(std::uint64_t address) const {
    auto block = std::upper_bound(blocks_.begin(), blocks_.end(), address, [](std::uint64_t value, const CodeBlock& one) { return value < one.begin; });
    // Blocks overlap where code jumps behind a prefix of an instruction.
    for (int i = 0; i < 4 && block != blocks_.begin(); ++i)
        if (address < (--block)->end) return static_cast<std::uint32_t>(block - blocks_.begin());
    return none;
}

/// Asks where the jumps without an answer lead. Returns whether one has a table. Tables without known bounds wait for the others, which may
/// begin where those end.
bool FunctionBlocks::read_tables() {
    std::vector<std::optional<RegisterValues>> states(blocks_.size());
    std::set<std::uint32_t> changed;
    for (const std::uint32_t entry : entries_) {
        states[entry] = RegisterValues::at_entry();
        changed.insert(entry);
    }
    std::map<std::uint64_t, RegisterValues> at_jumps;
    std::uint64_t steps_left = 64 * blocks_.size() + 1000;
    while (!changed.empty() && steps_left-- != 0) {
        const std::uint32_t number = *changed.begin();
        changed.erase(changed.begin());
        const CodeBlock& block = blocks_[number];
        RegisterValues values = *states[number];
        CodeAt last;
        for (std::uint64_t at = block.begin; at < block.end; at += last.instruction.length) {
            last = code_.at(at, block.end);
            if (register_jumps_.count(at) != 0) at_jumps.insert_or_assign(at, values);
            values.step(code_, at, last);
        }
        const bool is_branch = last.instruction.kind == Flow::Branch;
        const std::uint32_t taken = is_branch ? block_of(last.instruction.target) : none;
        for (const std::uint32_t successor : successors(number)) {
            RegisterValues there = values;
            const bool is_both = is_branch && block.end == last.instruction.target;
            if (is_branch && !is_both) there.assume(last.instruction.condition, successor == taken);
            if (!states[successor])
                states[successor] = std::move(there);
            else if (!states[successor]->join(there, blocks_[successor].begin))
                continue;
            changed.insert(successor);
        }
    }
    if (!changed.empty()) return false;
    const auto next_data = [this](std::uint64_t address) {
        const auto next = data_.upper_bound(address);
        return next == data_.end() ? ~std::uint64_t{0} : *next;
    };
    bool found = false;
    for (const bool is_bounded : {true, false}) {
        for (auto& [at, values] : at_jumps) {
            const CodeAt jump = code_.at(at, part_of(at)->range.end);
            JumpTargets answer = jump_targets(
                code_, at, jump, values, [this](std::uint64_t address) { return may_be_own(address); }, next_data);
            if (answer.kind == JumpTargets::Kind::Unknown || (is_bounded && answer.kind == JumpTargets::Kind::Table && !answer.is_bounded)) continue;
            found = true;
            register_jumps_.erase(at);
            table_entries_ += answer.targets.size();
            if (table_entries_ > most_table_entries) fail("the tables are too long, the last for the jump", at);
            tables_[at] = std::move(answer);
            take_jump(at, jump);
        }
        if (found) break;
    }
    return found;
}

} // namespace libprofile::tools
