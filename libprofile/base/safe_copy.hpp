// Copies memory that may not be there.
// Contract: async-signal-safe, keeps errno; one to three system calls.
#pragma once

#include <cstddef>

namespace libprofile {

/// Returns false if not all of it is there. Where the kernel does not let a process read itself, both ends are looked at, and the rest is read as it
/// is. `bytes`: at least eight.
bool copy_memory(void* to, const void* from, std::size_t bytes) noexcept;

} // namespace libprofile
