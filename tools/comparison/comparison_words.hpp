// The sentences of a comparison: what its first screen says.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/comparison/amounts.hpp"
#include "tools/comparison/comparison.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// One of the differences that the first screen names.
struct DifferenceLine {
    std::string amount; // "+9.8 s"
    std::string use;    // "waiting"
    std::string text;   // "MPI_Allreduce in cg_solve (cg.cpp:210), all ranks; what they wait for:"
};

struct ComparisonWords {
    std::string head; // "today is 11.7 % slower: 134.0 s, yesterday 120.0 s (three runs each, spread 0.9 s)"
    std::vector<DifferenceLine> lines;
    std::vector<std::string> remarks; // sentences without a full stop
};

ComparisonWords words_of(const Comparison& comparison, const GroupComparison& one, const std::vector<RunGroup>& groups);

/// "three runs each", "one run of today, three of yesterday".
std::string repetitions_text(const std::string& before, std::size_t runs_before, const std::string& after, std::size_t runs_after);

/// In which unit all values of a comparison are written.
Amounts amounts_of(const Comparison& comparison, const GroupComparison& one);

/// "+-0.3 s", "+-0.3 s: within chance", "unknown"; empty if the difference is exact.
std::string chance_text(const Change& change, const Amounts& amounts);

/// "1.31 times as long", "only in today".
std::string ratio_text(const Change& change, const std::string& after, bool is_of_time);

} // namespace libprofile::tools
