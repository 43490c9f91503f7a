// A range of machine code that belongs together.
// Contract: plain data.
#pragma once

#include <cstdint>

namespace libprofile::tools {

/// A function, or a part of one that the compiler moved elsewhere: one entry of the unwind information.
struct CodePart {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t landing_table = 0; // of exceptions, 0 if there is none
    bool is_inner = false;           // its stack frame stands when it is entered: jumps from another part lead here
};

} // namespace libprofile::tools
