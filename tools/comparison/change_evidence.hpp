// What speaks for it that the program did something else where it took longer, and not the machine.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
//
// A slower processor, or other programs beside the job, make all functions slower alike, and let ranks wait for each other. A change of the program makes
// other calls, or some functions slower than the others. So runs that were not repeated tell these apart, as far as samples allow.
#pragma once

#include "tools/comparison/group_comparison.hpp"

#include <cstdint>

namespace libprofile::tools {

enum class ChangeEvidence : std::uint8_t {
    None,         // samples do not tell whether some functions differ or all, or waits have most of the difference
    Calls,        // other calls, more or fewer of them, or other bytes have a part of it
    Functions,    // so have functions that differ more than the others, which is no chance
    Instructions, // counted instructions differ with the time
};

/// "none", "calls", "functions", "instructions".
const char* change_evidence_name(ChangeEvidence which);

/// @param sample_ns the time between two samples of a thread, in the run that has fewer. What iterations have in common with others of their kind is known
/// better than this, by the samples of all these, but says nothing of them alone.
/// @param time, instructions of an iteration; instructions of 0: they were not counted
ChangeEvidence evidence_of(const GroupComparison& comparison, double sample_ns, const Change& time = {}, const Change& instructions = {});

} // namespace libprofile::tools
