// What paired iterations of two runs call, in order: which pairs of call trees there are, in which iterations and on which ranks (LIBPROFILE_ORDER).
// Contract: pair_sequences() is thread-safe (no state); memory and time in proportion to the pairs, the call paths and the events of the sequences that
// occur in pairs; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/common_paths.hpp"
#include "tools/structure/ordered_tree.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

/// Iterations of two runs that are the same.
struct AlignedPair {
    std::uint64_t before = 0, after = 0; // numbers of iterations, from 0, in the first run of both groups
    double ns_before = 0, ns_after = 0;  // means over ranks and runs
    float dissimilarity = 0;             // of these two: run_dissimilarity.hpp
};

/// The loop of a run whose calls are compared.
struct OrderedRun {
    const Profile* profile = nullptr; // with names
    std::uint32_t phase = 0;
    std::vector<const Location*> locations; // main threads, each compared with the other run's at this place; null: there is none
};

/// Puts those with the same rank at the same place.
void pair_by_rank(OrderedRun& before, OrderedRun& after);

/// One rank's part of a pair: sequences with these trees.
struct PairOnRank {
    std::uint32_t rank = 0;
    std::vector<std::uint64_t> iterations; // of the first run, ascending
    const EventSequence *before = nullptr, *after = nullptr;
};

inline constexpr std::size_t most_different_pairs = 64; // whose trees are kept

/// Two call trees that iterations of both runs have.
struct SequencePair {
    std::array<std::uint64_t, 2> hash = {}; // of the trees
    OrderedTree before, after;              // of the first pair, and of the first ones that differ; else empty
    std::vector<PairOnRank> ranks;          // ascending; a rank may be here several times, as other sequences have the same tree
    std::uint64_t iterations = 0;           // of all ranks

    bool is_equal() const { return hash[0] == hash[1]; }
};

struct SequencePairs {
    std::array<const Profile*, 2> profiles;
    CommonPaths paths;                  // of the trees
    std::vector<SequencePair> pairs;    // the most frequent first
    std::array<bool, 2> has_order = {}; // whether the order of calls was recorded in the runs
    std::uint64_t ranks_of_runs = 0;    // that one of the runs has
    std::uint64_t unknown = 0;          // iterations of ranks, of which the order is not known in one of the runs
};

/// @param before after: with equally many places
/// @param iterations ascending
SequencePairs pair_sequences(const OrderedRun& before, const OrderedRun& after, std::span<const AlignedPair> iterations);

} // namespace libprofile::tools
