// Where a jump through a register or a table of addresses leads: the tables that GCC and Clang make of a switch or of labels as values.
// Contract: no state; allocates the targets; throws std::bad_alloc only.
#pragma once

#include "tools/code/register_values.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace libprofile::tools {

struct JumpTargets {
    enum class Kind : std::uint8_t {
        Unknown,
        Table, // to one of the targets
        Away,  // into another function
    };
    Kind kind = Kind::Unknown;
    bool is_bounded = false; // the code compares the index, so that the number of entries is known
    std::uint64_t table = 0;
    std::vector<std::uint64_t> targets; // by address, in the function
    std::vector<std::uint64_t> others;  // in other functions
};

/// @param values before the jump
/// @param is_own whether an address may be one of the function's instructions
/// @param next_data the first address above a given one that the function uses otherwise: there a table without known bounds ends
JumpTargets jump_targets(const ElfCode& code, std::uint64_t address, const CodeAt& jump, RegisterValues values,
                         const std::function<bool(std::uint64_t)>& is_own, const std::function<std::uint64_t(std::uint64_t)>& next_data);

} // namespace libprofile::tools
