// Which functions never return. What follows their calls in memory is other code, which would look like a loop.
// Contract: one thread; reads each function once and keeps the answer; throws std::bad_alloc only. Not proven is taken to return.
#pragma once

#include "tools/code/elf_code.hpp"

#include <cstdint>
#include <unordered_map>

namespace libprofile::tools {

class NoReturn {
  public:
    explicit NoReturn(const ElfCode& code) : code_(code) {}

    /// Whether what is called, or jumped to, never returns.
    bool operator()(const Instruction& call);

  private:
    enum class Answer : std::uint8_t { Returns, Never };
    static constexpr int deepest = 12; // calls that are followed
    bool never_returns(std::uint64_t function);

    const ElfCode& code_;
    int depth_ = 0;
    std::unordered_map<std::uint64_t, bool> library_; // by stub or slot
    std::unordered_map<std::uint64_t, Answer> functions_;
};

} // namespace libprofile::tools
