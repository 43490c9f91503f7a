// Loops of a function that never was.
// Contract: for tests; allocates.
#pragma once

#include "tools/reader/code_loops.hpp"

namespace libprofile::test {

/// Two loops in each other. `first` lies in the inner one, and may be followed there by the block of two other sites; behind both in the outer loop is a
/// third block, with a site of another function. A function that was not understood comes after it.
inline tools::ModuleLoops sample_loops(std::uint64_t first) {
    using tools::FunctionLoops;
    FunctionLoops function, other;
    function.is_understood = true;
    function.places = {{first, 0, true}, {first + 0x10, 1, true}, {first + 0x14, 1, true}, {first + 0x30, 2, false}};
    function.loop_of = {1, 1, 0};
    function.loops = {{first - 8, FunctionLoops::none, 0, 10}, {first - 4, 0, FunctionLoops::none, 0}};
    function.next = {{1}, {}, {}, {}, {2}};
    other.places = {{first + 0x400, 0, true}, {first + 0x420, 0, true}};
    return {{"solve.cpp"}, {function, other}};
}

} // namespace libprofile::test
