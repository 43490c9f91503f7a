// How two calls of one function lie in the loops of its machine code: what the order of the calls alone cannot tell.
//
// Contract: reads code of a loaded module, changes nothing; async-signal-safe; scratch memory under the quota; time in proportion to the
// size of the function, some tenths of a millisecond for 2 KB of code. x86-64 only; elsewhere, and where the code is not fully understood
// (instructions that are not known, jumps through tables), the answer is Unknown.
//
// The control flow of the function is that of its jumps. A loop is a set of blocks that reach each other; loops inside it are those that are left
// when the blocks by which it is entered are taken away. Exceptions are not followed. A call that never returns (exit) seems to go on behind
// itself, which may look like a loop: is_certain says whether the answer is the same when calls do not go on to what is jumped to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

enum class Nesting : std::uint8_t {
    Unknown,
    Same,      // no loop has `often` and not `seldom`: where this comes less often, some passes leave it out
    Around,    // `often` is in a loop of its own, inside one each pass of which makes the call `seldom`
    Sometimes, // the same, but passes of the loop around may leave it out
};

struct NestingAnswer {
    Nesting nesting = Nesting::Unknown;
    bool is_certain = false;
};

/// Finds the part of a function that holds an address. False: not known.
using FindCode = bool (*)(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) noexcept;

/// Of two call instructions of one function; an address in each.
NestingAnswer nesting_of(std::uintptr_t often, std::uintptr_t seldom, FindCode find_code) noexcept;

/// Whether a pass of the innermost loop with the call `in` may make neither of the calls `one` and `other`. True, too, if it is not known.
bool may_pass_without(std::uintptr_t in, std::uintptr_t one, std::uintptr_t other, FindCode find_code) noexcept;

} // namespace libprofile
