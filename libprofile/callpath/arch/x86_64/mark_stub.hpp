// See arch/mark_stub.hpp.
#pragma once

#include <cstdint>

namespace libprofile {

inline std::uintptr_t stored_as(std::uintptr_t word, std::uintptr_t from, std::uintptr_t to, std::uintptr_t, Signing) noexcept { return word == from ? to : 0; }

constexpr std::uintptr_t stub_frame_size = 8;

} // namespace libprofile
