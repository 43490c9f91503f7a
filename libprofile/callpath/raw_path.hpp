// A stretch of call stack as raw addresses, innermost frame first: the result of a walk over the stack.
// Contract: plain data of one thread.
#pragma once

#include "libprofile/callpath/arch/frame_end.hpp"
#include "libprofile/callpath/walked_frame.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// Why a walk over the stack ended.
enum class PathEnd : std::uint8_t {
    Root, // at the outermost frame of the process or thread
    Mark, // at the thread's mark; what lies beyond is known (path_tracker.hpp)
    Lost, // at code that cannot be unwound, or at values that make no sense: the path is partial
    Full, // at `capacity`: the path is partial
    Hard, // at unwind information that only libunwind can interpret
};

/// What the position of a frame's return slot depends on, apart from the frame inside: as long as that is unchanged, a walk finds the
/// same slot.
struct SlotOrigin {
    enum class Kind : std::uint8_t {
        Address,      // nothing: the inner frame's address tells its size
        FramePointer, // a saved frame pointer
        Unknown,      // anything else
    };
    // The slot of the saved frame pointer, and its content, as distances in bytes from the return slot.
    std::int32_t saved_at = 0;
    std::int32_t value = 0;
    Kind kind = Kind::Unknown;
};

struct RawPath {
    static constexpr std::size_t capacity = 1024;
    /// Look-up addresses: the interrupted instruction itself, and for callers the return address - 1 (inside the call).
    std::uintptr_t addresses[capacity];
    /// The return slot of each frame; 0 for interrupted instructions, and if unknown.
    std::uintptr_t slots[capacity];
    SlotOrigin origins[capacity];
    [[no_unique_address]] FrameEnds<capacity> ends; // of the frames inside, which return there
    std::uint8_t flags[capacity];                   // RecipeFlag, of the module
    std::size_t size;
    PathEnd end;
    SlotOrigin marked; // of the mark's slot, if the walk ended there
    [[no_unique_address]] FoundMark found;
    bool crossed_signal; // a frame was interrupted by a signal whose handler is part of the path
    bool bridged;        // code without unwind information was crossed by a search of the stack

    void clear() {
        size = 0;
        end = PathEnd::Lost;
        marked = {};
        crossed_signal = bridged = false;
    }
    bool push(std::uintptr_t address, std::uintptr_t slot, SlotOrigin origin = {}, std::uintptr_t frame_end = 0) {
        if (size == capacity) return false;
        addresses[size] = address;
        slots[size] = slot;
        origins[size] = origin;
        ends.set(size, frame_end);
        flags[size] = 0;
        ++size;
        return true;
    }
    void set_flags(std::uint8_t of_innermost) { flags[size - 1] = of_innermost; }
    /// A return that is just passing through the mark was interrupted. The frames around it are left alone.
    static bool enters_mark_code(const WalkedFrame&, std::uintptr_t, std::uintptr_t) { return false; }
    /// The walk ends at the thread's mark.
    void end_at_mark(SlotOrigin origin, std::uintptr_t slot, bool was_interrupted) {
        end = PathEnd::Mark;
        marked = origin;
        found.set(slot, was_interrupted);
    }
    /// A lost mark in this slot, whose return address is known, does not end it.
    static void pass_lost_mark(std::uintptr_t, std::uintptr_t, std::uintptr_t) {}
};

} // namespace libprofile
