// When each call of a typical iteration comes in two runs (LIBPROFILE_ORDER): the skew of the most frequent pair of call trees.
// Contract: plain data; typical_events() is thread-safe (no state); time and memory in proportion to the events of that pair on all ranks, and those of
// one alignment; throws std::bad_alloc only.
//
// Begins and lengths are those of the sequences' typical timelines: means over all their iterations, those of ranks weighted by their paired iterations.
#pragma once

#include "tools/comparison/sequence_pairs.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A call that both runs make; times in ns.
struct TypicalEvent {
    std::string call, caller;
    std::uint64_t count = 1; // in a row, before
    double begin_before = 0, begin_after = 0;
    double length_before = 0, length_after = 0;
    double least_added = 0, most_added = 0; // by rank: what the begin lies later by than the event before it does

    double later() const { return begin_after - begin_before; }
};

struct TypicalEvents {
    std::vector<std::uint64_t> ranks; // that have this pair, ascending
    std::uint64_t iterations = 0;     // of all these
    std::vector<TypicalEvent> events; // in their order before
};

/// @return no events if nothing of the order is known
TypicalEvents typical_events(const SequencePairs& pairs);

} // namespace libprofile::tools
