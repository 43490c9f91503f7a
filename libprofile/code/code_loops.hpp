// How two calls of one function lie in the loops of its machine code. The order of the calls alone cannot tell.
//
// Contract: belongs to one thread, for one decision; reads code of a loaded module, changes nothing; async-signal-safe; scratch memory under the
// quota. Nothing is known if the code is not fully understood, memory is short, or the architecture has no decoder.
//
// A function is read at the first question and kept: a few tenths of a millisecond for 2 KB of code. The total time is bounded to some tens of
// milliseconds; later questions get no answer.
#pragma once

#include "libprofile/code/control_flow.hpp"

namespace libprofile {

struct NestingAnswer {
    Nesting nesting = Nesting::Unknown;
    bool is_certain = false; // the same nesting results if calls do not go on to code that is also jumped to: they may never return
};

class CodeLoops {
  public:
    static constexpr std::uint64_t most_bytes = 256 << 10;
    static constexpr std::uint64_t most_steps = 8 << 20;

    explicit CodeLoops(FindCode find_code) noexcept : find_code_(find_code) {}

    /// Whether the function with the call `in` is understood.
    bool understands(std::uintptr_t in) noexcept { return function(in, in, in) != nullptr; }
    /// Whether the call `in` lies in a loop, or seems to because a call does not return. Returns true if unknown.
    bool is_in_loop(std::uintptr_t in) noexcept;
    /// Whether the function with the call `in` calls itself or setjmp(). Returns true if unknown.
    bool may_begin_again(std::uintptr_t in) noexcept;
    /// Whether the function may come to the call `in` after it has caught an exception. Returns true if unknown.
    bool may_catch_before(std::uintptr_t in) noexcept;
    /// Whether the innermost loop with the call `in` lies in another one, or seems to because a call does not return. Returns false if unknown.
    bool is_nested(std::uintptr_t in) noexcept;
    /// Compares two call instructions of one function, given by an address in each.
    NestingAnswer nesting(std::uintptr_t often, std::uintptr_t seldom) noexcept;
    /// Whether a pass of the innermost loop with the call `in` may make neither `one` nor `other`. Returns true if unknown.
    bool may_pass_without(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) noexcept;
    /// The same for `count` calls.
    bool may_pass_without(std::uintptr_t in, const std::uintptr_t* others, std::uint32_t count) noexcept;
    /// Whether a pass of that loop may make the call `through` and none of `count` others. Returns false if unknown.
    bool may_pass_through(std::uintptr_t in, std::uintptr_t through, const std::uintptr_t* others, std::uint32_t count) noexcept;
    /// Whether the function with these calls may end without making any. Returns true if unknown.
    bool may_end_without(const std::uintptr_t* calls, std::uint32_t count) noexcept;
    /// Whether the function with `address` may return instead of only jumping to others. Returns true if unknown.
    bool may_return(std::uintptr_t address) noexcept;
    /// Returns the target of a call, 0 if the instruction does not say it or the function is not understood.
    std::uintptr_t target_of(std::uintptr_t call) noexcept;
    /// Whether a pass of that loop may make both of the others. Returns true if unknown.
    bool may_make_both(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) noexcept;

  private:
    struct Function {
        FunctionCode code;
        std::uint32_t own_parts = 0; // parts after these were added by a question
        bool is_known = false;
        ControlFlow flow;

        bool is_for(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) const noexcept;
        bool read(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other, FindCode find_code) noexcept;
    };
    Function* function(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other) noexcept;
    static bool find_all(const FunctionCode& code, const std::uintptr_t* calls, std::uint32_t count, std::uint32_t* at) noexcept;

    static constexpr std::uint32_t most_functions = 8; // mostly parts of one
    FindCode find_code_;
    Function functions_[most_functions];
    std::uint32_t next_ = 0; // replaced next
    std::uint64_t bytes_left_ = most_bytes;
    std::uint64_t steps_left_ = most_steps;
};

} // namespace libprofile
