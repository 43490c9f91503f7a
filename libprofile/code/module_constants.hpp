// Bytes that cannot change while their module is loaded.
// Contract: async-signal-safe; allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// Whether these bytes are constants of a loaded module: of its file, in a segment that is not writable.
bool are_constants(std::uintptr_t address, std::size_t size) noexcept;

} // namespace libprofile
