// See arch/mark_stub.hpp.
#pragma once

#include <cstdint>

namespace libprofile {

constexpr bool has_marks = true;

extern "C" [[gnu::visibility("hidden")]] void libprofile_mark_stub();
extern "C" [[gnu::visibility("hidden")]] const char __start_libprofile_marks[];
extern "C" [[gnu::visibility("hidden")]] const char __stop_libprofile_marks[];

/// The content of a marked return slot.
inline std::uintptr_t mark_stub() noexcept { return reinterpret_cast<std::uintptr_t>(&libprofile_mark_stub); }

/// Returns true if `address` lies in the stub or its handler.
inline bool is_mark_code(std::uintptr_t address) noexcept {
    return address >= reinterpret_cast<std::uintptr_t>(__start_libprofile_marks) && address < reinterpret_cast<std::uintptr_t>(__stop_libprofile_marks);
}

} // namespace libprofile
