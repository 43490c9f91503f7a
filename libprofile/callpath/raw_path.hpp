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

struct RawPath {
    static constexpr std::size_t capacity = 1024;
    /// Look-up addresses: the interrupted instruction itself, and for callers the return address - 1 (inside the call).
    std::uintptr_t addresses[capacity];
    /// Where the return address of each lies; 0 for interrupted instructions, and where it is not known.
    std::uintptr_t slots[capacity];
    std::uint8_t flags[capacity]; // RecipeFlag, of the module
    std::size_t size;
    PathEnd end;
    bool crossed_signal; // a frame was interrupted by a signal whose handler is part of the path
    bool bridged;        // code without unwind information was crossed by a search of the stack

    /// Words besides the return addresses that led the walk: saved frame pointers. As long as these and the return
    /// addresses stay the same, a walk from the same place takes the same way.
    struct Witness {
        std::uintptr_t place;
        std::uintptr_t value;
    };
    static constexpr std::size_t max_witnesses = 6;
    Witness witnesses[max_witnesses];
    std::size_t witness_count; // max_witnesses + 1: too many

    void clear() {
        size = witness_count = 0;
        end = PathEnd::Lost;
        crossed_signal = bridged = false;
    }
    bool push(std::uintptr_t address, std::uintptr_t slot) {
        if (size == capacity) return false;
        addresses[size] = address;
        slots[size] = slot;
        flags[size] = 0;
        ++size;
        return true;
    }
};

} // namespace libprofile
