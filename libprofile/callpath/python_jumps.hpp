// The backward jumps of Python functions: whether a function may come from one instruction to another without being called again.
//
// The interpreter leaves no trace when a Python function returns, and a new call of it mostly gets the same frame. But a function comes back to an
// instruction, or to an earlier one, only by a jump backwards. Where its code has none, it has returned and was called again.
//
// Contract: belongs to one thread; async-signal-safe; reads code through SafeMemory, once for each of the functions asked about last. Says that it may if
// the code cannot be read.
#pragma once

#include "libprofile/callpath/python_process.hpp"
#include "libprofile/callpath/safe_memory.hpp"

#include <cstdint>

namespace libprofile {

class PythonJumps {
  public:
    /// Whether the function with the code object at `code` may come from the instruction at `from` to that at `to`. `identity`: PythonCodes::identity().
    bool may_come(std::uintptr_t code, std::uint64_t identity, std::uintptr_t from, std::uintptr_t to, SafeMemory& memory) noexcept;

  private:
    /// Code between a jump's target and the jump, in bytes from the first instruction.
    struct Range {
        std::uint32_t target, jump;
    };
    struct Function {
        std::uintptr_t code = 0;
        std::uint64_t identity = 0;
        std::uint32_t count = 0;
        static constexpr std::uint32_t most = 12;
        Range range[most];
        void add(Range added) noexcept;
    };
    static constexpr unsigned function_bits = 6;
    static constexpr std::uint32_t most_units = 32768;

    static void read(Function& function, SafeMemory& memory) noexcept;

    Function functions_[1u << function_bits];
};

} // namespace libprofile
