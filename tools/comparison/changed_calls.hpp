// What paired iterations of two runs call otherwise: calls that were added, removed, moved, renamed functions, told once for all iterations and ranks.
// Contract: plain data; changed_calls() is thread-safe (no state); of so many pairs of call trees as are looked into, time and memory are as those of
// tree_changes(); throws std::bad_alloc only.
//
// The pairs are those of sequence_pairs.hpp, the changes those of structure/tree_changes.hpp. Looked into are the most
// frequent pairs of call trees that differ, whose trees are kept.
#pragma once

#include "tools/comparison/sequence_pairs.hpp"
#include "tools/structure/tree_changes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

struct ChangedCall {
    TreeChangeKind kind = TreeChangeKind::Added;
    std::string call;                              // that, or the function whose calls these are; of several in a row, the first one
    bool is_in_a_row = false;                      // others follow it that changed with it
    std::string caller;                            // empty: none is known
    std::string now;                               // Renamed: what it is called. Moved: what stands before it, empty if nothing does
    std::vector<std::uint64_t> ranks;              // ascending
    std::vector<std::uint64_t> iterations;         // of the first run, on each of these ranks, ascending
    std::uint64_t least = 0, most = 0;             // times in an iteration
    std::uint64_t least_calls = 0, most_calls = 0; // of MPI, regions and phases inside, in one of these

    /// On all ranks.
    std::uint64_t places() const { return ranks.size() * iterations.size(); }
};

struct ChangedCalls {
    std::array<bool, 2> has_order = {}; // whether the order of calls was recorded in the runs; else there is nothing here
    std::uint64_t ranks_of_runs = 0;    // of the one that has more
    std::uint64_t compared = 0;         // iterations of ranks
    std::uint64_t different = 0;        // of these
    std::uint64_t untold = 0;           // of these: not looked into
    std::uint64_t unknown = 0;          // others, of which the order of calls is not known in one of the runs
    std::vector<ChangedCall> calls;     // what occurs most first
};

ChangedCalls changed_calls(const SequencePairs& pairs);

} // namespace libprofile::tools
