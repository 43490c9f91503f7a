// The control flow of a function, from its jumps, and how two calls lie in its loops.
//
// Contract: belongs to one thread; async-signal-safe; scratch memory under the quota, about fifteen bytes per byte of code. Time is counted in steps,
// one for each block visited: a few ns each.
//
// A loop is a set of blocks that reach each other. Its inner loops remain when the blocks by which it is entered are removed. Only questions that
// say so follow exceptions. A call that never returns (exit) seems to go on to the next instruction, which may look like a loop.
#pragma once

#include "libprofile/base/scratch.hpp"
#include "libprofile/code/function_code.hpp"
#include "libprofile/code/jump_table.hpp"

#include <algorithm>
#include <cstdint>

namespace libprofile {

enum class Nesting : std::uint8_t {
    Unknown,
    Same,      // no loop has `often` without `seldom`: if `seldom` comes less often, some passes leave it out
    Around,    // `often` is in a loop of its own, inside a loop each pass of which makes the call `seldom`
    Sometimes, // the same, but passes of the outer loop may leave it out
};

class ControlFlow {
  public:
    /// Calls, by position.
    struct Calls {
        const std::uint32_t* at = nullptr;
        std::uint32_t count = 0;
        static constexpr std::uint32_t most = 16;
    };

    /// Returns false if the code is not fully understood (unknown instructions, jumps through unknown tables) or memory is short.
    bool build(const FunctionCode& code, FindCode find_code) noexcept;

    // Questions about calls at positions in that code. Each takes its steps from `steps`. When none are left, its answer means nothing.

    /// `is_strict`: other calls do not go on to code that is also jumped to.
    Nesting nesting(std::uint32_t often_at, std::uint32_t seldom_at, bool is_strict, std::uint64_t& steps) noexcept;
    /// Whether the call at `at` lies in a loop.
    bool is_in_loop(std::uint32_t at, std::uint64_t& steps) noexcept;
    /// Whether the innermost loop with the call at `in_at` lies in another one.
    bool is_nested(std::uint32_t in_at, std::uint64_t& steps) noexcept;
    /// Whether the call may be made after the function has caught an exception. Returns true if that is unknown.
    bool may_catch_before(std::uint32_t call_at, std::uint64_t& steps) noexcept;
    /// Whether a pass of the innermost loop with the call at `in_at` may make none of the others. Returns true if there is no loop.
    bool may_pass_without(std::uint32_t in_at, Calls others, std::uint64_t& steps) noexcept;
    /// Whether a pass of that loop may make the call `through_at` and none of the others. Returns false if there is no loop.
    bool may_pass_through(std::uint32_t in_at, std::uint32_t through_at, Calls others, std::uint64_t& steps) noexcept;
    /// How functions end: by returning, or also by jumping to another one.
    enum class Ends : std::uint8_t { Return, ReturnOrJump };
    /// Whether the function, entered at its beginning, may end so without making any of the calls, be it that it catches an exception.
    bool may_end_without(Calls calls, Ends ends, std::uint64_t& steps) noexcept;
    /// Whether a pass of that loop may make both of the others. Returns true if there is no loop.
    bool may_make_both(std::uint32_t in_at, std::uint32_t one_at, std::uint32_t other_at, std::uint64_t& steps) noexcept;

  private:
    static constexpr std::uint32_t none = FunctionCode::none;
    static constexpr std::uint32_t largest_with_tables = 16 << 10; // bytes of a function whose jumps through tables are followed
    static constexpr std::uint32_t most_switches = 64;
    static constexpr std::uint32_t most_cases = 4096; // of all switches

    /// Successive instructions; only the first may be jumped to.
    struct Block {
        std::uint32_t next = none;   // follows it
        std::uint32_t target = none; // of the jump at its end
        std::uint32_t pad = none;    // where the function may go on when it catches an exception of a call here
        std::uint32_t case_of = 0;   // the cases of the switch at its end: their first, in cases_
        std::uint32_t cases = 0;
        bool ends_with_call = false; // and the code after it is jumped to from elsewhere
        bool returns = false;        // at its end
        bool jumps_away = false;     // into another function
        bool is_pad = false;         // exceptions lead here
        bool catches = false;        // and may be caught
        bool is_live = false;        // can be reached
        bool is_in = false;          // in the loop in question
        bool is_from = false;        // reachable from the block in question
        bool is_to = false;          // reaches that block
        bool is_head = false;        // the loop is entered here
    };

    bool take_steps(std::uint64_t count) noexcept {
        *steps_ -= std::min(*steps_, count);
        return *steps_ != 0;
    }
    /// Whether a call at the end of the block counts as one that never returns.
    bool may_end(std::uint32_t number) const noexcept { return is_strict_ && blocks_[number].ends_with_call && number != often_ && number != seldom_; }
    template <class Visit> void for_each_successor(std::uint32_t number, Visit visit) const noexcept {
        const Block& block = blocks_[number];
        if (block.target != none) visit(block.target);
        for (std::uint32_t i = 0; i < block.cases; ++i) visit(cases_[block.case_of + i]);
        if (block.next != none && !may_end(number)) visit(block.next);
    }
    template <class Visit> void for_each_predecessor(std::uint32_t number, Visit visit) const noexcept {
        for (std::uint32_t i = first_before_[number]; i < first_before_[number + 1]; ++i) {
            const std::uint32_t from = before_[i];
            if (blocks_[from].target == number || !may_end(from)) visit(from);
        }
    }
    void push(std::uint32_t number) noexcept { waiting_[waiting_count_++] = number; }
    /// Marks a block from which marks then spread, unless it has the mark.
    void reach(std::uint32_t number, bool Block::*mark) noexcept {
        if (blocks_[number].*mark) return;
        blocks_[number].*mark = true;
        push(number);
    }
    /// Calls step(block) for each that was pushed, and pushed by a step. Each may be pushed once, those that were there at the beginning once more.
    template <class Step> void work_off(Step step) noexcept {
        while (waiting_count_ != 0 && take_steps(1)) step(waiting_[--waiting_count_]);
        waiting_count_ = 0;
    }
    template <class Visit> void for_each_head(Visit visit) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (blocks_[i].is_live && !blocks_[i].is_in)
                for_each_successor(i, [&](std::uint32_t to) {
                    if (blocks_[to].is_in) visit(to);
                });
    }
    bool find_blocks(const FunctionCode& code) noexcept;
    template <class Visit> bool for_each_table(const FunctionCode& code, Visit visit) noexcept;
    bool add_cases(const FunctionCode& code, std::uint32_t position, const JumpTable& table, bool& is_new) noexcept;
    bool find_cases(const FunctionCode& code) noexcept;
    template <class Visit> bool for_each_pad(const FunctionCode& code, Visit visit) const noexcept;
    bool find_pads(const FunctionCode& code) noexcept;
    bool leads_to_target(const FunctionCode& code, std::uint32_t position) const noexcept;
    bool find_predecessors() noexcept;
    template <class GoesOn> void spread(bool Block::*mark, GoesOn goes_on) noexcept;
    void find_live() noexcept;
    void find_cycle(std::uint32_t of) noexcept;
    bool has_cycle(std::uint32_t of) noexcept;
    bool narrow(std::uint32_t of) noexcept;
    template <class Ask> bool without(Calls calls, Ask ask) noexcept;
    bool is_left_out_of_pass(Calls calls) noexcept;
    bool is_made_without(std::uint32_t through, Calls others) noexcept;
    bool is_made_behind(std::uint32_t first, std::uint32_t second) noexcept;
    void find_heads() noexcept;
    template <class Ask> bool of_innermost(std::uint32_t in_at, bool if_none, std::uint64_t& steps, Ask ask) noexcept;
    bool has_several_heads() const noexcept;
    bool drop_heads() noexcept;

    Scratch<std::uint32_t> block_of_; // by position in the code
    Scratch<Block> blocks_;
    Scratch<std::uint32_t> cases_; // blocks to which switches lead
    std::uint32_t case_count_ = 0;
    struct Switch {
        std::uint32_t position; // of its jump
        std::uint32_t first;    // its cases
        std::uint32_t count;
    };
    Switch switches_[most_switches] = {};
    std::uint32_t switch_count_ = 0;
    Scratch<std::uint32_t> first_before_; // by block: its predecessors begin there
    Scratch<std::uint32_t> before_;
    Scratch<std::uint32_t> waiting_; // blocks from which marks still have to spread
    std::uint32_t waiting_count_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t entry_[FunctionCode::most_parts] = {}; // blocks at which parts begin
    bool is_target_[FunctionCode::most_parts] = {};      // jumped to, or a landing pad: perhaps not the function's beginning
    std::uint32_t entries_ = 0;
    std::uint32_t often_ = 0, seldom_ = 0;
    bool is_strict_ = false;
    bool has_table_jumps_ = false;
    bool are_pads_known_ = false;
    std::uint64_t* steps_ = nullptr;
};

} // namespace libprofile
