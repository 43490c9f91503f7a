// The sentences of a comparison over time.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/comparison/comparison_words.hpp"
#include "tools/comparison/over_time.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// "401-1000", with the numbers of the other run where they are others: "421-1020 (401-1000 of new)". Counted from 1.
std::string iterations_text(const SegmentChange& segment, const std::string& after);

/// Why it is no change: "within chance", "small", "machine", "not known"; empty if it is one.
std::string segment_chance(const SegmentChange& segment);

struct SegmentWords {
    std::string head; // "iterations 401-1000 are 9.1 % slower: 9.10 ms each, old 8.34 ms (+0.456 s in all)"
    std::vector<DifferenceLine> lines;
};

struct OverTimeWords {
    std::string head;                   // "new is 5.2 % slower in the iterations of timestep: 10.5 s, old 10.0 s (one run each)"
    std::vector<SegmentWords> segments; // those that changed
    std::vector<std::string> calls;     // what is called otherwise, or at another time; sentences without a full stop
    std::vector<std::string> remarks;   // the same
};

/// @param lines of a segment, at most; 0: the usual number
OverTimeWords words_of(const RunsOverTime& result, const GroupOverTime& one, const std::vector<ProfiledGroup>& groups, std::size_t lines = 0);

} // namespace libprofile::tools
