// What is asked of MPI functions and of call sites where a loop's passes are looked for.
// Contract: plain functions, so that tests have functions and code of their own; async-signal-safe.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/code/function_code.hpp"

#include <cstdint>

namespace libprofile {

struct FunctionTraits {
    bool (*is_collective)(std::uint32_t function) noexcept;
    bool (*is_chance)(std::uint32_t function) noexcept;      // how often it is called is chance: tests, probes
    std::uintptr_t (*address_of)(const Node& site) noexcept; // one in the call; 0: it is in no module, or that is not loaded any more
    FindCode find_code;
    bool (*is_beside)(const Node& node) noexcept; // a call that is not followed
};

/// Those of MPI, and of code that is loaded.
extern const FunctionTraits mpi_traits;
/// Building data types and packing tell little of loops, and there are programs that do it with every message.
bool is_beside(const Node& node) noexcept;

} // namespace libprofile
