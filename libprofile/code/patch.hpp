// Leads the entry of a function, or a call in it, through a stub of ours.
//
// Contract: changes the code of a loaded module, in ordinary context, while no other thread can be executing that address
// (loops/iteration_point.cpp sees to that). Maps one page near the module for each patch, never given back. Changes nothing if there is a problem.
//
// x86-64 only (code/arch/x86_64). The entry of a function is replaced by a jump to the stub. The stub ends with the replaced instructions and a jump
// to the next ones. The stack stays as at the entry, so return addresses lead into the function itself, and its unwind tables and exception handlers
// hold. That requires that all instructions of the function are known and that no jump leads into the replaced ones.
// A call becomes a call of the stub, which jumps to the original target: no code moves. The same is done with the first call of a function that
// has no room for a jump before it.
#pragma once

#include "libprofile/code/code_range.hpp"

#include <cstdint>

namespace libprofile {

enum class PatchProblem : std::uint8_t {
    None,
    NotSupported, // another processor
    NoFunction,   // no unwind information gives the function's range
    NotAnEntry,   // but another address in a function
    UnknownCode,  // instructions that are not understood
    JumpTarget,   // a jump leads into the bytes to be replaced
    CallFirst,    // the function begins with a call through a register, or with one that not every entry reaches
    TooShort,
    IndirectCall, // through a register or memory: too short
    NoMemory,     // near the module
    Protected,    // the kernel does not let code be changed
    TooMany,
};
/// Describes the problem as the end of a sentence ("... cannot be followed: <words>").
const char* words(PatchProblem problem) noexcept;

/// From now on every pass of `address` calls libprofile_iteration_passed(site). `address`: the first instruction of a function, or anywhere in a call
/// instruction.
PatchProblem patch_code(std::uintptr_t address, std::uint32_t site) noexcept;

/// Returns the first call in [start, end), a range of one function; 0 if no call there could be followed.
std::uintptr_t find_call(std::uintptr_t start, std::uintptr_t end, std::uintptr_t& target) noexcept;

// For sleds (regions/sleds.cpp):

struct Module;
/// Maps a writable page that code of the module at `address` can jump to and back from. Returns nullptr if there is no room.
unsigned char* map_near(std::uintptr_t address, const Module& module) noexcept;
/// Learns how the processor keeps its vector registers (libprofile_vector_state_parts, _size). Returns false if they cannot be kept.
bool find_vector_state() noexcept;
/// Returns how many bytes of the module may be read, or executed, at `address`.
std::uintptr_t readable(const Module& module, std::uintptr_t address, bool as_code) noexcept;

} // namespace libprofile
