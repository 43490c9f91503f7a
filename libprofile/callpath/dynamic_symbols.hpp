// Looks a name up in a loaded module's own table of dynamic symbols, without the loader: dlsym and dlopen wait for a lock,
// and the thread that holds it may be waiting for this one.
// Contract: async-signal-safe; reads only the module's memory. Source: the System V gABI, "Dynamic Section", and the layout
// of DT_GNU_HASH as binutils writes it.
#pragma once

#include <cstdint>
#include <link.h>

namespace libprofile {

/// Returns the address of a function that the module with this program header table defines and exports, or 0.
std::uintptr_t find_dynamic_symbol(std::uintptr_t bias, const ElfW(Phdr) * headers, unsigned count, const char* name) noexcept;

/// Returns the name of the function that the loader binds with relocation `index` of those for stubs (DT_JMPREL), or nullptr.
const char* find_bound_name(std::uintptr_t bias, const ElfW(Phdr) * headers, unsigned count, std::uint32_t index) noexcept;

struct DynamicFunction {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
};

/// Finds the exported function that covers `address`. Looks at all of them, so remember the result.
bool find_dynamic_function(std::uintptr_t bias, const ElfW(Phdr) * headers, unsigned count, std::uintptr_t address, DynamicFunction& function) noexcept;

} // namespace libprofile
