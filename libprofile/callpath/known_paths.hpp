// The call paths that MPI calls of a thread had before, by return address and frame.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe; memory from the thread's arena, never given
// back: a path that was found stays readable, though forgotten, when the table grows.
//
// Several for each place: calls of Fortran all come from one place in the binding layer, those of other programs from few, with
// different callers. They are often met in the same order, so they are tried in the order in which they came, from the one that
// was last met. The table begins small, since a program may have thousands of threads with few calls each.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/callpath/path_tracker.hpp"

#include <cstdint>

namespace libprofile {

class KnownPathTable {
  public:
    static constexpr std::uint32_t ways = 8;
    struct Set {
        KnownPath path[ways];
        std::uint32_t last = 0;
    };

    /// No path can be known: no call yet, or no memory.
    bool is_empty() const { return sets_ == nullptr; }
    /// Where paths of calls at `return_address` and `frame` are, unless it is empty.
    Set& set(const void* return_address, std::uintptr_t frame) {
        const auto hash = (reinterpret_cast<std::uintptr_t>(return_address) ^ (frame << 16)) * golden;
        return sets_[hash >> shift_];
    }
    /// A place for one more path, in the stead of the one that came first. nullptr: there is no memory.
    KnownPath* replace(const void* return_address, std::uintptr_t frame, CallTree& tree, Arena& arena) noexcept;

  private:
    static constexpr std::uint32_t first_bits = 2; // of the number of sets
    static constexpr std::uint32_t most_bits = 6;

    void grow(std::uint32_t bits, CallTree& tree, Arena& arena) noexcept;
    static void forget(KnownPath& known, CallTree& tree) noexcept;

    Set* sets_ = nullptr;
    std::uint32_t shift_ = 64 - first_bits;
    std::uint32_t replaced_ = 0; // since it has grown
};

} // namespace libprofile
