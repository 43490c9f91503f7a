// See arch/frame_end.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

constexpr bool has_fixed_frame_end = false;

class FrameEnd {
  public:
    static FrameEnd at(std::uintptr_t stack) noexcept {
        FrameEnd end;
        end.stack_ = stack;
        return end;
    }
    std::uintptr_t of(std::uintptr_t slot) const noexcept { return slot == 0 ? 0 : stack_; }

  private:
    std::uintptr_t stack_ = 0;
};

template <std::size_t size> class FrameEnds {
  public:
    void set(std::size_t index, std::uintptr_t stack) noexcept { ends_[index] = FrameEnd::at(stack); }
    FrameEnd operator[](std::size_t index) const noexcept { return ends_[index]; }

  private:
    FrameEnd ends_[size];
};

} // namespace libprofile
