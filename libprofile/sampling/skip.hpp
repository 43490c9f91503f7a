// Decides which samples get no call path of their own, and why (format/skip_reasons.def).
// Contract: for the signal handler of the sampled thread; async-signal-safe.
#pragma once

#include "format/skip_reasons.hpp"

#include <cstdint>

namespace libprofile {

/// Finds the loader and libprofile itself. Runs once, before the first sample.
void know_modules() noexcept;

/// Returns true for libprofile's own instructions outside its in-tool flag: the first and last of each wrapper.
bool is_own_code(std::uintptr_t instruction) noexcept;

/// Returns why the stack interrupted at `instruction` is not unwound; None if it is. Call it on that very stack.
SkipReason why_not_unwound(std::uintptr_t instruction) noexcept;

} // namespace libprofile
