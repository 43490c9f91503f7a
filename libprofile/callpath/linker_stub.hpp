// Stubs that the linker makes for functions in other modules: a jump through a slot. The loader writes the function's address into the slot, at the
// latest at the first call.
// Contract: async-signal-safe, no lock, no allocation; reads only readable segments of loaded modules.
#pragma once

#include <cstdint>

namespace libprofile {

/// The word at `address`; 0 if it cannot be read.
std::uintptr_t word_at(std::uintptr_t address) noexcept;
/// In programs that are not position-independent, a shared library's function has the address of a stub in the program. Finds the stub's target.
/// Returns false if `address` is no such stub. Before its first use, the slot may lead back into the stub's module.
bool follow_stub(std::uintptr_t address, std::uintptr_t& target) noexcept;

/// If `target`, as follow_stub() found it, leads back into the stub's module to have the slot bound: returns the name of the function, else nullptr
/// (on AArch64 always).
const char* unbound_name(std::uintptr_t target) noexcept;

} // namespace libprofile
