// The call paths of a thread's earlier MPI calls, by return address and frame.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe. Memory comes from the thread's arena and is never
// given back: a path that was found stays readable when the table grows, although it is forgotten.
//
// Each set holds several paths. All calls from Fortran have one return address in the binding layer, and those of other programs have few,
// with different callers. Calls often repeat in the same order, so paths are tried in that order, from the last match on. The table begins
// small, since a program may have thousands of threads with few calls each.
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

    /// Returns true if no path can be known: no call yet, or memory is short.
    bool is_empty() const { return sets_ == nullptr; }
    /// The set of paths for `return_address`, `frame` and KnownPath::python. The table must not be empty.
    Set& set(const void* return_address, std::uintptr_t frame, std::uint64_t python) {
        const auto hash = (reinterpret_cast<std::uintptr_t>(return_address) ^ (frame << 16) ^ python) * golden;
        return sets_[hash >> shift_];
    }
    /// An entry for one more path, which replaces the oldest. Returns nullptr if memory is short.
    KnownPath* replace(const void* return_address, std::uintptr_t frame, std::uint64_t python, CallTree& tree, Arena& arena) noexcept;

  private:
    static constexpr std::uint32_t first_bits = 2; // of the number of sets
    static constexpr std::uint32_t most_bits = 6;

    void grow(std::uint32_t bits, CallTree& tree, Arena& arena) noexcept;
    static void forget(KnownPath& known, CallTree& tree) noexcept;

    Set* sets_ = nullptr;
    std::uint32_t shift_ = 64 - first_bits;
    std::uint32_t replaced_ = 0; // since the table grew
};

} // namespace libprofile
