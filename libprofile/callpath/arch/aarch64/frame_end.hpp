// See arch/frame_end.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

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

class FoundMark {
  public:
    void set(std::uintptr_t slot, bool was_interrupted) noexcept {
        slot_ = slot;
        was_interrupted_ = was_interrupted;
    }
    std::uintptr_t slot() const noexcept { return slot_; }
    bool was_interrupted() const noexcept { return was_interrupted_; }

  private:
    std::uintptr_t slot_;
    bool was_interrupted_;
};

template <std::size_t size> class FrameEnds {
  public:
    void set(std::size_t index, std::uintptr_t stack) noexcept { ends_[index] = FrameEnd::at(stack); }
    FrameEnd operator[](std::size_t index) const noexcept { return ends_[index]; }

  private:
    FrameEnd ends_[size];
};

} // namespace libprofile
