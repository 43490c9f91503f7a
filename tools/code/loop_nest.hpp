// The loops of one function and how they lie in each other: what a static analysis can say of the passes of a loop.
// Contract: const access is thread-safe; allocates in proportion to the function; throws std::bad_alloc only. Numbers of loops are stable for one
// file: outer loops come before inner ones, else by address.
//
// A loop is what Havlak's algorithm finds: blocks from which its header can be reached without leaving what the header leads to; where control
// can enter a loop in several places (an irreducible one), the first that a depth-first search comes to is the header. Loops that share a header are one.
// Source: P. Havlak, Nesting of reducible and irreducible loops, ACM TOPLAS 19(4), 1997; R. E. Tarjan, Testing flow graph reducibility,
// Journal of Computer and System Sciences 9, 1974.
#pragma once

#include "tools/code/function_blocks.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace libprofile::tools {

struct CodeLoop {
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::uint64_t header = 0;              // address of its first instruction
    std::uint32_t parent = none;           // the loop around it
    std::uint32_t depth = 1;               // 1: no loop is around it
    bool is_irreducible = false;           // it can be entered elsewhere, too
    std::vector<std::uint32_t> inner;      // loops directly inside
    std::vector<std::uint64_t> calls;      // call instructions that lie in it and in no inner loop
    std::vector<std::uint64_t> back_edges; // instructions from which control goes back to the header
};

class LoopNest {
  public:
    static constexpr std::uint32_t none = CodeLoop::none;

    explicit LoopNest(FunctionBlocks blocks);

    const FunctionBlocks& blocks() const { return blocks_; }
    const std::vector<CodeLoop>& loops() const { return loops_; }

    /// Makes each loop for which is_same(it, the loop around it) holds one with the loop around it. Compilers make several loops of one when some
    /// ways through its body can skip a test. Such a loop has several headers, and a pass begins at each.
    void unite(const std::function<bool(const CodeLoop&, const CodeLoop&)>& is_same);

    /// The innermost loop with that address; `none` if there is none, or the address is not reached.
    std::uint32_t innermost(std::uint64_t address) const;
    std::uint32_t innermost_of_block(std::uint32_t block) const { return loop_of_[block]; }
    /// Whether the loop holds the address, in an inner loop, too.
    bool contains(std::uint32_t loop, std::uint64_t address) const;
    /// Whether the one loop is the other, or lies in it.
    bool is_inside(std::uint32_t inner, std::uint32_t outer) const;

    /// Whether control can go on from instruction `from` to instruction `to` during one pass of the loop: without leaving it and without going back
    /// to its header. Inner loops may do as many passes as they like. `none` as the loop: anywhere in the function.
    /// From an instruction to itself: only around an inner loop. Costs a visit of the loop's blocks.
    bool reaches_forward(std::uint32_t loop, std::uint64_t from, std::uint64_t to) const;
    /// The blocks to which control can go on so from a block; `true` for those.
    std::vector<bool> reached_from(std::uint32_t loop, std::uint32_t block) const { return reached(loop, {block}); }
    /// Whether some pass of the loop comes to that instruction from its header: as above, from the beginning of the loop or function.
    bool reaches_from_start(std::uint32_t loop, std::uint64_t to) const;

  private:
    void find_loops();
    void fill_loops();
    bool is_header(std::uint32_t loop, std::uint32_t block) const;
    std::vector<bool> reached(std::uint32_t loop, std::vector<std::uint32_t> waiting) const;
    bool holds(std::uint32_t loop, std::uint32_t block) const { return loop == none || is_inside(loop_of_[block], loop); }

    FunctionBlocks blocks_;
    std::vector<CodeLoop> loops_;
    std::vector<std::vector<std::uint32_t>> headers_of_; // by loop: blocks
    std::vector<std::uint32_t> loop_of_;                 // by block: the innermost
};

} // namespace libprofile::tools
