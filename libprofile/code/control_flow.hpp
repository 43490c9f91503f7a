// The control flow of a function, as its jumps make it, and how two calls lie in its loops.
//
// Contract: belongs to one thread; async-signal-safe; scratch memory under the quota, some ten bytes for each of the code. Time is counted in
// steps, one for each block that is looked at: a few ns each.
//
// A loop is a set of blocks that reach each other; loops inside it are those that are left when the blocks by which it is entered are
// taken away. Exceptions are not followed. A call that never returns (exit) seems to go on behind itself, which may look like a loop.
#pragma once

#include "libprofile/base/scratch.hpp"
#include "libprofile/code/function_code.hpp"

#include <algorithm>
#include <cstdint>

namespace libprofile {

enum class Nesting : std::uint8_t {
    Unknown,
    Same,      // no loop has `often` and not `seldom`: where this comes less often, some passes leave it out
    Around,    // `often` is in a loop of its own, inside one each pass of which makes the call `seldom`
    Sometimes, // the same, but passes of the loop around may leave it out
};

class ControlFlow {
  public:
    /// Some calls, by their positions.
    struct Calls {
        const std::uint32_t* at = nullptr;
        std::uint32_t count = 0;
        static constexpr std::uint32_t most = 16;
    };

    /// False: the code is not fully understood (instructions that are not known, jumps through tables), or there is no memory.
    bool build(const FunctionCode& code) noexcept;

    // Of calls at positions in the code that it was built of. Each takes the steps it needs from `steps`; when none are left, what it answers
    // means nothing.

    /// `is_strict`: calls other than these two do not go on to what is jumped to.
    Nesting nesting(std::uint32_t often_at, std::uint32_t seldom_at, bool is_strict, std::uint64_t& steps) noexcept;
    /// Whether the innermost loop with the call at `in_at` lies in another one.
    bool is_nested(std::uint32_t in_at, std::uint64_t& steps) noexcept;
    /// Whether a pass of the innermost loop with the call at `in_at` may make none of the others. True, too, if it is in none.
    bool may_pass_without(std::uint32_t in_at, Calls others, std::uint64_t& steps) noexcept;
    /// Whether a pass of that loop may make the call `through_at` and none of the others. False, too, if it is in none.
    bool may_pass_through(std::uint32_t in_at, std::uint32_t through_at, Calls others, std::uint64_t& steps) noexcept;
    /// How functions end: by returning, or also by going on in another one.
    enum class Ends : std::uint8_t { Return, ReturnOrJump };
    /// Whether the function, entered at its begin, may end so and have made none of the calls.
    bool may_end_without(Calls calls, Ends ends, std::uint64_t& steps) noexcept;
    /// Whether a pass of that loop may make both of the others. True, too, if it is in none.
    bool may_make_both(std::uint32_t in_at, std::uint32_t one_at, std::uint32_t other_at, std::uint64_t& steps) noexcept;

  private:
    static constexpr std::uint32_t none = FunctionCode::none;

    /// Instructions that follow each other; only the first is jumped to.
    struct Block {
        std::uint32_t next = none;   // behind it
        std::uint32_t target = none; // of the jump at its end
        bool ends_with_call = false; // and what is behind it is jumped to from elsewhere
        bool returns = false;        // at its end
        bool jumps_away = false;     // into another function
        bool is_live = false;        // can be reached
        bool is_in = false;          // in the loop that is looked at
        bool is_from = false;        // can be reached from the one that is asked for
        bool is_to = false;          // reaches it
        bool is_head = false;        // the loop is entered here
    };

    bool take_steps(std::uint64_t count) noexcept {
        *steps_ -= std::min(*steps_, count);
        return *steps_ != 0;
    }
    template <class Visit> void for_each_successor(std::uint32_t number, Visit visit) const noexcept {
        const Block& block = blocks_[number];
        if (block.target != none) visit(block.target);
        if (block.next != none && !(is_strict_ && block.ends_with_call && number != often_ && number != seldom_)) visit(block.next);
    }
    /// Until nothing changes any more.
    template <class Step> void sweep(Step step) noexcept {
        for (bool changed = true; changed && take_steps(std::uint64_t{2} * count_);) {
            changed = false;
            for (std::uint32_t i = 0; i < count_; ++i) changed = step(i) || changed;
            for (std::uint32_t i = count_; i-- > 0;) changed = step(i) || changed;
        }
    }
    /// What has the mark gives it to its successors, where goes_on(block).
    template <class GoesOn> void spread(bool Block::*mark, GoesOn goes_on) noexcept {
        sweep([&](std::uint32_t i) {
            bool changed = false;
            if (blocks_[i].*mark && goes_on(blocks_[i]))
                for_each_successor(i, [&](std::uint32_t to) {
                    changed = changed || !(blocks_[to].*mark);
                    blocks_[to].*mark = true;
                });
            return changed;
        });
    }
    template <class Visit> void for_each_head(Visit visit) const noexcept {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (blocks_[i].is_live && !blocks_[i].is_in)
                for_each_successor(i, [&](std::uint32_t to) {
                    if (blocks_[to].is_in) visit(to);
                });
    }
    bool find_blocks(const FunctionCode& code) noexcept;
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
    bool drop_heads() noexcept;

    Scratch<std::uint32_t> block_of_; // by position in the code
    Scratch<Block> blocks_;
    std::uint32_t count_ = 0;
    std::uint32_t entry_[FunctionCode::most_parts] = {}; // blocks at which parts begin
    bool is_target_[FunctionCode::most_parts] = {};      // they are jumped to, and may not be where the function begins
    std::uint32_t entries_ = 0;
    std::uint32_t often_ = 0, seldom_ = 0;
    bool is_strict_ = false;
    std::uint64_t* steps_ = nullptr;
};

} // namespace libprofile
