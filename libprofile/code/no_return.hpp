// Calls that never come back, such as those of abort() and of functions that report an error and end the program. Compilers put other code right
// behind them, so without this knowledge that code seems to be reached from there.
//
// Contract: belongs to one thread, for one function; async-signal-safe; allocates nothing; reads code of loaded modules. A function never returns if it
// is understood, has no instruction that returns, and jumps to no other function. Bounded: what is asked too late counts as returning.
#pragma once

#include "libprofile/code/function_code.hpp"

namespace libprofile {

class NoReturn {
  public:
    explicit NoReturn(FindCode find_code) noexcept : find_code_(find_code) {}

    /// Whether the call never comes back. Returns false if unknown.
    bool is_made_by(const Instruction& call) noexcept;

  private:
    static constexpr std::uint32_t most_instructions = 1u << 18; // a few milliseconds
    static constexpr std::uint32_t most_searches = 128;          // by name, for functions that were not called yet
    static constexpr std::uint32_t most_known = 64;

    bool may_return(std::uintptr_t called) noexcept;
    bool has_return(const char* name, std::uint32_t caller) noexcept;
    bool has_return(std::uintptr_t function) noexcept;

    FindCode find_code_;
    std::uint32_t instructions_left_ = most_instructions;
    std::uint32_t searches_left_ = most_searches;
    struct Known {
        std::uintptr_t called = 0;
        bool returns = true;
    };
    Known known_[most_known]; // by a hash of the address
};

} // namespace libprofile
