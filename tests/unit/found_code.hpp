// Where the code of a compiled function lies, for tests that ask about its loops.
// Contract: thread-safe; load_map must know the module.
#pragma once

#include "libprofile/code/code_range.hpp"

#include <cstdint>

namespace libprofile::test {

/// A FindCode: by the unwind information.
inline bool find_code(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) noexcept {
    CodeRange range;
    if (!find_function_code(address, range)) return false;
    start = range.start;
    end = range.end;
    return true;
}

} // namespace libprofile::test
