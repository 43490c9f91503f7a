// See arch/mark_stub.hpp. There are no marks on AArch64 yet.
#pragma once

#include <cstdint>

namespace libprofile {

constexpr bool has_marks = false;
inline std::uintptr_t mark_stub() noexcept { return 1; } // no return address
inline bool is_mark_code(std::uintptr_t) noexcept { return false; }

} // namespace libprofile
