// The addresses of one function, by its module's unwind information.
// Contract: async-signal-safe; reads the tables of loaded modules; allocates nothing.
#pragma once

#include <cstdint>

namespace libprofile {

struct CodeRange {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
};
/// Finds the function, or the part of one, that holds `address`. Returns false if the tables do not say it.
bool find_function_code(std::uintptr_t address, CodeRange& range) noexcept;

} // namespace libprofile
