// What the search for the time loop asks about MPI functions and call sites.
// Contract: plain functions, which tests replace by their own; async-signal-safe.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/code/function_code.hpp"

#include <cstdint>

namespace libprofile {

struct FunctionTraits {
    bool (*is_collective)(std::uint32_t function) noexcept;
    bool (*is_poll)(std::uint32_t function) noexcept;        // how often a program calls it is random
    std::uintptr_t (*address_of)(const Node& site) noexcept; // one in the call; 0 if it is in no loaded module
    FindCode find_code;
    bool (*is_of_datatypes)(const Node& node) noexcept; // a call that is not followed
};

/// Those of MPI and of the loaded code.
extern const FunctionTraits mpi_traits;
/// Building datatypes and packing say little about loops, and some programs do it for every message.
bool is_of_datatypes(const Node& node) noexcept;

} // namespace libprofile
