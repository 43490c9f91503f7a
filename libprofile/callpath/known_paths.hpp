// The call paths of a thread's earlier MPI calls, by return address, frame, and where the thread's mark stood.
// Contract: belongs to one thread, used with its in-tool flag set; async-signal-safe. Memory comes from the thread's arena and is never
// given back: a path that was found stays readable when the table grows, although it is forgotten.
//
// Each set holds several paths. All calls from Fortran have one return address in the binding layer, and those of other programs have few,
// with different callers: a solver's levels, say, make the same call from a hundred places. So the node of the mark chooses the set, too: from
// there on, few ways lead to the call. A path is kept once for each place where the mark stands. Calls often repeat in the same order, so a set
// expects the path that came after the last one before, and the end of a call fetches the path that came after its own. The table begins small,
// since a program may have thousands of threads with few calls each.
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
    /// The set of paths for `return_address`, `frame`, KnownPath::python and the node of the mark. The table must not be empty.
    std::uint32_t set_of(const void* return_address, std::uintptr_t frame, std::uint64_t python, NodeId mark) const {
        const auto hash = (reinterpret_cast<std::uintptr_t>(return_address) ^ (frame << 16) ^ python ^ (std::uint64_t{mark} << 34)) * golden;
        return static_cast<std::uint32_t>(hash >> (sets_ & shift_mask));
    }
    KnownPath& path(std::uint32_t set, std::uint32_t way) { return paths()[set * ways + way]; }
    /// The path that is expected next.
    KnownPath& expected(std::uint32_t set) { return path(set, header().last[set] % ways); }
    /// It came.
    void pass(std::uint32_t set, KnownPath& path) {
        header().last[set] = path.successor;
        follow(path);
    }
    /// Another one came: next time, it is expected after the last one.
    void pass_unexpected(std::uint32_t set, std::uint32_t way) {
        std::uint8_t& last = header().last[set];
        const std::uint32_t before = last / ways;
        path(set, before).successor = pair(before, way);
        last = path(set, way).successor;
        follow(path(set, way));
    }
    /// The call on this path is over. Fetches what the next one will need: the program evicts it from the first caches, if not from all.
    static void expect_next(const KnownPath& path) {
        __builtin_prefetch(path.next->word);
        __builtin_prefetch(path.next->row, 1);
    }
    /// The path of a call was looked for and is not known. `mark`: where the mark stood then; a walk will move it.
    void miss(NodeId mark) { header().mark = mark; }
    NodeId missed_at() const { return is_empty() ? 0 : header().mark; }
    /// An entry for one more path, which replaces the oldest. Returns nullptr if memory is short.
    KnownPath* replace(const void* return_address, std::uintptr_t frame, std::uint64_t python, NodeId mark, CallTree& tree, Arena& arena) noexcept;

  private:
    static constexpr std::uint32_t first_bits = 2; // of the number of sets
    static constexpr std::uint32_t most_bits = 8;
    struct alignas(KnownPath) Header {           // in front of the sets
        KnownPath* passed = nullptr;             // the last path of all
        std::uint32_t replaced = 0;              // since the table grew
        NodeId mark = 0;                         // of the last miss()
        std::uint8_t last[1u << most_bits] = {}; // by set: KnownPath::successor of the last path, a pair() of its way and the one expected next
    };
    static constexpr std::uintptr_t shift_mask = alignof(KnownPath) - 1;

    static std::uint8_t pair(std::uint32_t way, std::uint32_t next) { return static_cast<std::uint8_t>(way * ways + next % ways); }
    /// Repetitions are left out: what comes after them is to be expected.
    void follow(KnownPath& path) {
        KnownPath*& passed = header().passed;
        if (passed != &path) passed->next = &path;
        passed = &path;
        __builtin_prefetch(path.next, 1); // for expect_next()
    }
    KnownPath* paths() const { return reinterpret_cast<KnownPath*>(sets_ & ~shift_mask); }
    Header& header() const { return reinterpret_cast<Header*>(paths())[-1]; }
    std::uint32_t bits() const { return 64 - static_cast<std::uint32_t>(sets_ & shift_mask); }
    void grow(std::uint32_t bits, CallTree& tree, Arena& arena) noexcept;
    static void forget(KnownPath& known, CallTree& tree) noexcept;

    std::uintptr_t sets_ = 0; // where they lie, and 64 - log2 of their number
};

} // namespace libprofile
