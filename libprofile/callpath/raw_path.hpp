// A stretch of call stack as raw addresses, innermost frame first: what a walk over the stack finds.
// Contract: plain data of one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// Why a walk over the stack ended.
enum class PathEnd : std::uint8_t {
    Root, // at the outermost frame of the process or thread
    Mark, // at the thread's mark; what lies beyond is known (path_tracker.hpp)
    Lost, // at code that cannot be unwound, or at nonsense: the path is partial
    Full, // at `capacity`: the path is partial
    Hard, // at unwind information that only libunwind can interpret
};

/// What led to the slot of a frame's return address, besides the frame inside of it: as long as that is the same, a walk
/// finds the same slot.
struct SlotOrigin {
    enum class Kind : std::uint8_t {
        Address,      // nothing: the inner frame's address tells its size
        FramePointer, // a saved frame pointer
        Unknown,      // more than that
    };
    // Where the frame pointer was saved and what it holds, in bytes from the slot.
    std::int32_t place = 0;
    std::int32_t value = 0;
    Kind kind = Kind::Unknown;
};

struct RawPath {
    static constexpr std::size_t capacity = 1024;
    /// Look-up addresses: the interrupted instruction itself, and for callers the return address - 1 (inside the call).
    std::uintptr_t addresses[capacity];
    /// Where the return address of each lies; 0 for interrupted instructions, and where it is not known.
    std::uintptr_t slots[capacity];
    SlotOrigin origins[capacity];
    std::uint8_t flags[capacity]; // RecipeFlag, of the module
    std::size_t size;
    PathEnd end;
    bool crossed_signal; // a frame was interrupted by a signal whose handler is part of the path
    bool bridged;        // code without unwind information was crossed by a search of the stack

    void clear() {
        size = 0;
        end = PathEnd::Lost;
        crossed_signal = bridged = false;
    }
    bool push(std::uintptr_t address, std::uintptr_t slot, SlotOrigin origin = {}) {
        if (size == capacity) return false;
        addresses[size] = address;
        slots[size] = slot;
        origins[size] = origin;
        flags[size] = 0;
        ++size;
        return true;
    }
};

} // namespace libprofile
