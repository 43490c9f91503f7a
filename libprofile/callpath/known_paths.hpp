// The call paths of a thread's earlier MPI calls, by return address and frame.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe. Memory comes from the thread's arena and is never
// given back: a path that was found stays readable when the table grows, although it is forgotten.
//
// Each set holds several paths. All calls from Fortran have one return address in the binding layer, and those of other programs have few,
// with different callers. Calls often repeat in the same order, so a set expects the path that came after the last one before. The table
// begins small, since a program may have thousands of threads with few calls each.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/callpath/path_tracker.hpp"

#include <cstdint>

namespace libprofile {

class KnownPathTable {
  public:
    static constexpr std::uint32_t ways = 8;

    /// Returns true if no path can be known: no call yet, or memory is short.
    bool is_empty() const { return sets_ == 0; }
    /// The set of paths for `return_address`, `frame` and KnownPath::python. The table must not be empty.
    std::uint32_t set_of(const void* return_address, std::uintptr_t frame, std::uint64_t python) const {
        const auto hash = (reinterpret_cast<std::uintptr_t>(return_address) ^ (frame << 16) ^ python) * golden;
        return static_cast<std::uint32_t>(hash >> (sets_ & shift_mask));
    }
    KnownPath& path(std::uint32_t set, std::uint32_t way) { return reinterpret_cast<KnownPath*>(sets_ & ~shift_mask)[set * ways + way]; }
    /// The path that is expected next.
    KnownPath& expected(std::uint32_t set) { return path(set, last_[set] % ways); }
    /// It came.
    void pass(std::uint32_t set, const KnownPath& path) { last_[set] = path.successor; }
    /// Another one came: next time, it is expected after the last one.
    void pass_unexpected(std::uint32_t set, std::uint32_t way) {
        const std::uint32_t before = last_[set] / ways;
        path(set, before).successor = pair(before, way);
        last_[set] = path(set, way).successor;
    }
    /// An entry for one more path, which replaces the oldest. Returns nullptr if memory is short.
    KnownPath* replace(const void* return_address, std::uintptr_t frame, std::uint64_t python, CallTree& tree, Arena& arena) noexcept;

  private:
    static constexpr std::uint32_t first_bits = 2; // of the number of sets
    static constexpr std::uint32_t most_bits = 6;
    struct alignas(KnownPath) Header { // in front of the sets
        std::uint32_t replaced = 0;    // since the table grew
    };
    static constexpr std::uintptr_t shift_mask = alignof(KnownPath) - 1;

    static std::uint8_t pair(std::uint32_t way, std::uint32_t next) { return static_cast<std::uint8_t>(way * ways + next % ways); }
    std::uint32_t bits() const { return 64 - static_cast<std::uint32_t>(sets_ & shift_mask); }
    void grow(std::uint32_t bits, CallTree& tree, Arena& arena) noexcept;
    static void forget(KnownPath& known, CallTree& tree) noexcept;

    // A cache line, and the first word of the next (thread/thread.hpp).
    std::uint8_t last_[1u << most_bits] = {}; // by set: KnownPath::successor of the last path, a pair() of its way and the one expected next
    std::uintptr_t sets_ = 0;                 // where they lie, and 64 - log2 of their number
};

} // namespace libprofile
