// Reading the application's stack while it is unwound.
// Contract: async-signal-safe; never faults, whatever the address; opens and touches no file descriptor.
//
// A thread's own stack, between the current frame and its base, is read directly. The kernel reads anything else (a coroutine's stack, an
// alternate signal stack, an address from wrong unwind information) and reports if it does not exist.
#pragma once

#include <cstdint>

namespace libprofile {

/// Remembers the calling thread's stack. Called near its base when the thread begins. `size`: that of the whole stack.
void remember_stack(std::uintptr_t size) noexcept;
/// The same for the main thread, whose stack grows up to a limit.
void remember_main_stack() noexcept;

/// Returns false if `address` cannot be read.
bool read_stack_word(std::uintptr_t address, std::uintptr_t* value) noexcept;

} // namespace libprofile
