// See arch/frame_end.hpp. The return address lies right below.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

struct FrameEnd {
    static FrameEnd at(std::uintptr_t) noexcept { return {}; }
    static std::uintptr_t of(std::uintptr_t slot) noexcept { return slot + 8; }
};

struct FoundMark {
    static void set(std::uintptr_t, bool) noexcept {}
    static std::uintptr_t slot() noexcept { return 0; }
    static bool was_interrupted() noexcept { return false; }
};

template <std::size_t> struct FrameEnds {
    static void set(std::size_t, std::uintptr_t) noexcept {}
    FrameEnd operator[](std::size_t) const noexcept { return {}; }
};

} // namespace libprofile
