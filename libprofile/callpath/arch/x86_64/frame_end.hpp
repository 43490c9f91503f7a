// See arch/frame_end.hpp. The return address lies right below.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

constexpr bool has_fixed_frame_end = true;

struct FrameEnd {
    static FrameEnd at(std::uintptr_t) noexcept { return {}; }
    static std::uintptr_t of(std::uintptr_t slot) noexcept { return slot + 8; }
};

template <std::size_t> struct FrameEnds {
    static void set(std::size_t, std::uintptr_t) noexcept {}
    FrameEnd operator[](std::size_t) const noexcept { return {}; }
};

} // namespace libprofile
