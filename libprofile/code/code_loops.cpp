#include "libprofile/code/code_loops.hpp"

#include "libprofile/callpath/linker_stub.hpp"

#include <csetjmp>

namespace libprofile {

namespace {

bool is_setjmp(std::uintptr_t address) {
    return address == reinterpret_cast<std::uintptr_t>(&_setjmp) || address == reinterpret_cast<std::uintptr_t>(&__sigsetjmp);
}

/// The function at `called`, or the one to which the linker's stub there leads, is setjmp(). It has been called if it is to come back.
bool leads_to_setjmp(std::uintptr_t called) {
    std::uintptr_t target = 0;
    return is_setjmp(called) || (follow_stub(called, target) && is_setjmp(target));
}

} // namespace

/// Whether it was read from the call `in` with these two. Parts that are not reached by jumps count as entries: extra ones would change the answers.
bool CodeLoops::Function::is_for(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) const noexcept {
    if (code.parts() == 0 || !code.is_in_part(0, in)) return false;
    if (code.position(one) == FunctionCode::none || code.position(other) == FunctionCode::none) return false;
    for (std::uint32_t i = own_parts; i < code.parts(); ++i)
        if (!code.is_in_part(i, one) && !code.is_in_part(i, other)) return false;
    return true;
}

bool CodeLoops::Function::read(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other, FindCode find_code) noexcept {
    code = {};
    is_known = code.read(in, find_code);
    own_parts = code.parts();
    is_known = code.add(one, find_code) && code.add(other, find_code) && is_known && flow.build(code, find_code);
    return is_known;
}

/// Returns nullptr if it is not understood, or too much was asked.
CodeLoops::Function* CodeLoops::function(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) noexcept {
    if (steps_left_ == 0) return nullptr;
    for (Function& known : functions_)
        if (known.is_for(in, one, other)) return known.is_known ? &known : nullptr;
    if (bytes_left_ == 0) return nullptr;
    Function& fresh = functions_[next_++ % most_functions];
    const bool is_known = fresh.read(in, one, other, find_code_);
    bytes_left_ -= std::min<std::uint64_t>(bytes_left_, fresh.code.size());
    return is_known ? &fresh : nullptr;
}

bool CodeLoops::is_in_loop(std::uintptr_t in) noexcept {
    Function* its = function(in, in, in);
    return its == nullptr || its->flow.is_in_loop(its->code.position(in), steps_left_) || steps_left_ == 0;
}

bool CodeLoops::may_begin_again(std::uintptr_t in) noexcept {
    Function* its = function(in, in, in);
    if (its == nullptr) return true;
    const FunctionCode& code = its->code;
    return !code.for_each([&](std::uint32_t, bool, std::uintptr_t, const Instruction& instruction) {
        if (instruction.kind == Instruction::Kind::IndirectCall && instruction.operand != 0) return !is_setjmp(word_at(instruction.operand));
        if (instruction.kind != Instruction::Kind::Call) return true;
        return code.position(instruction.target) == FunctionCode::none && !leads_to_setjmp(instruction.target);
    });
}

bool CodeLoops::may_catch_before(std::uintptr_t in) noexcept {
    Function* its = function(in, in, in);
    return its == nullptr || its->flow.may_catch_before(its->code.position(in), steps_left_) || steps_left_ == 0;
}

bool CodeLoops::is_nested(std::uintptr_t in) noexcept {
    Function* its = function(in, in, in);
    return its != nullptr && its->flow.is_nested(its->code.position(in), steps_left_) && steps_left_ != 0;
}

NestingAnswer CodeLoops::nesting(std::uintptr_t often, std::uintptr_t seldom) noexcept {
    Function* its = function(often, seldom, seldom);
    if (its == nullptr) return {};
    const std::uint32_t often_at = its->code.position(often), seldom_at = its->code.position(seldom);
    const Nesting nesting = its->flow.nesting(often_at, seldom_at, false, steps_left_);
    const bool is_certain = nesting != Nesting::Unknown && its->flow.nesting(often_at, seldom_at, true, steps_left_) == nesting;
    return steps_left_ == 0 ? NestingAnswer() : NestingAnswer{nesting, is_certain};
}

/// Finds the positions of calls. Returns false if one is not in the code that was read, or there are too many.
bool CodeLoops::find_all(const FunctionCode& code, const std::uintptr_t* calls, std::uint32_t count, std::uint32_t* at) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i == ControlFlow::Calls::most) return false;
        at[i] = code.position(calls[i]);
        if (at[i] == FunctionCode::none) return false;
    }
    return true;
}

bool CodeLoops::may_pass_without(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) noexcept {
    Function* its = function(in, one, other);
    if (its == nullptr) return true;
    const std::uint32_t at[] = {its->code.position(one), its->code.position(other)};
    return its->flow.may_pass_without(its->code.position(in), {at, 2}, steps_left_) || steps_left_ == 0;
}

bool CodeLoops::may_pass_without(std::uintptr_t in, const std::uintptr_t* others, std::uint32_t count) noexcept {
    Function* its = function(in, in, in);
    std::uint32_t at[ControlFlow::Calls::most];
    if (its == nullptr || !find_all(its->code, others, count, at)) return true;
    return its->flow.may_pass_without(its->code.position(in), {at, count}, steps_left_) || steps_left_ == 0;
}

bool CodeLoops::may_pass_through(std::uintptr_t in, std::uintptr_t through, const std::uintptr_t* others, std::uint32_t count) noexcept {
    Function* its = function(in, through, in);
    std::uint32_t at[ControlFlow::Calls::most];
    if (its == nullptr || !find_all(its->code, others, count, at)) return false;
    return its->flow.may_pass_through(its->code.position(in), its->code.position(through), {at, count}, steps_left_) && steps_left_ != 0;
}

bool CodeLoops::may_end_without(const std::uintptr_t* calls, std::uint32_t count) noexcept {
    Function* its = count == 0 ? nullptr : function(calls[0], calls[0], calls[0]);
    std::uint32_t at[ControlFlow::Calls::most];
    if (its == nullptr || !find_all(its->code, calls, count, at)) return true;
    return its->flow.may_end_without({at, count}, ControlFlow::Ends::ReturnOrJump, steps_left_) || steps_left_ == 0;
}

bool CodeLoops::may_return(std::uintptr_t address) noexcept {
    Function* its = function(address, address, address);
    return its == nullptr || its->flow.may_end_without({}, ControlFlow::Ends::Return, steps_left_) || steps_left_ == 0;
}

std::uintptr_t CodeLoops::target_of(std::uintptr_t call) noexcept {
    Function* its = function(call, call, call);
    std::uintptr_t target = 0;
    if (its == nullptr) return 0;
    its->code.for_each([&](std::uint32_t, bool, std::uintptr_t at, const Instruction& instruction) {
        if (call < at || call >= at + instruction.length) return true;
        if (instruction.kind == Instruction::Kind::Call) target = instruction.target;
        return false;
    });
    return target;
}

bool CodeLoops::may_make_both(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) noexcept {
    Function* its = function(in, one, other);
    if (its == nullptr) return true;
    const FunctionCode& code = its->code;
    return its->flow.may_make_both(code.position(in), code.position(one), code.position(other), steps_left_) || steps_left_ == 0;
}

} // namespace libprofile
