// Leads a place in the program's code through a stub of ours: the entry of a function, or a call in it.
//
// Contract: changes the code of a loaded module, in ordinary context, while no other thread can be executing that very place
// (loops/iteration_point.cpp sees to that); maps one page near the module for each place, never given back. Where there is a problem nothing is changed.
//
// x86-64 only. The entry of a function is replaced by a jump to the stub, which ends with the instructions that had been there and a
// jump to those behind them. The stack is as at the entry all the time, so return addresses lead into the function itself, where its
// unwind tables and its handlers of exceptions hold. That is done only where all instructions of the function are known and nothing in it
// jumps into what is replaced. A call becomes a call of the stub, which goes on to what was called: then nothing moves at all.
// So does the first call of a function that has no room for a jump before it.
#pragma once

#include "libprofile/code/code_range.hpp"

#include <cstdint>

namespace libprofile {

enum class PatchProblem : std::uint8_t {
    None,
    NotSupported, // another processor
    NoFunction,   // no unwind information says where the function begins and ends
    NotAnEntry,   // nor a call: somewhere else in a function
    UnknownCode,  // instructions that are not understood
    JumpTarget,   // something jumps to what would have to be replaced
    CallFirst,    // the function begins with a call through a register, or one that not every entry comes to
    TooShort,
    IndirectCall, // through a register or memory: too short
    NoMemory,     // near the module
    Protected,    // the kernel does not let code be changed
    TooMany,
};
/// Why, as the end of a sentence ("... cannot be followed: <words>").
const char* words(PatchProblem problem) noexcept;

/// From now on every pass of `address` calls libprofile_iteration_passed(site). `address`: the first instruction of a function, or anywhere in
/// a call instruction.
PatchProblem patch_code(std::uintptr_t address, std::uint32_t site) noexcept;

/// The first call in [start, end), which lies in one function; 0: there is none that could be followed.
std::uintptr_t find_call(std::uintptr_t start, std::uintptr_t end, std::uintptr_t& target) noexcept;

// For others that lead code to us:

struct Module;
/// A page, to be written, that code of the module at `address` can jump to and back from; nullptr: there is none.
unsigned char* map_near(std::uintptr_t address, const Module& module) noexcept;
/// Learns how the processor's vector registers are kept (libprofile_vector_state_parts, _size). False: they cannot be.
bool find_vector_state() noexcept;
/// How many bytes of the module may be read, or executed, at `address`.
std::uintptr_t readable(const Module& module, std::uintptr_t address, bool as_code) noexcept;

} // namespace libprofile
