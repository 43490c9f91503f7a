// Loops inside each other: what lies inside one that was found, and around it.
//
// Contract: on the thread of the log, with its in-tool flag set; scratch memory under the quota; integers only; one reading of the log.
//
// Programs have loops at several levels: output intervals, time steps, iterations of a solver. Each is a function that stays on the stack
// while it enters a call site again and again; those further inside are called anew in each pass of those further outside, so their passes are
// counted over all activations of their function. Inside a found loop a level counts if it has most of its time, and if its passes are long
// enough to be iterations and more than the stages of a step. Around it one counts if each of its passes calls the function of the found loop.
#pragma once

#include "libprofile/loops/event_log.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

struct LoopLevel {
    LoopCandidate candidate;
    std::uint32_t around = 0; // its position in the list + 1; 0: there is none
};

struct LoopLevels {
    static constexpr std::uint32_t most = 8;
    LoopLevel level[most]; // what is around others comes before them
    std::uint32_t count = 0;
    std::uint32_t found = 0; // the position of the loop that was asked about
};

/// Of a loop inside another: more than stages of a step, and long enough for an iteration to be closed in the middle of another.
bool are_inner_passes(const Entries& entries) noexcept;

/// Those of `loop`, itself among them; alone if there is no memory.
LoopLevels find_levels(const EventLog& log, const CallTree& tree, const LoopCandidate& loop) noexcept;

/// A loop in the function of `outer` inside that one, by the code, with a level's share of its passes: begins at each entry of a call site. False: none.
bool find_level_here(const EventLog& log, const CallTree& tree, const Loop& outer, const FunctionTraits& functions, Loop& inner) noexcept;

/// A loop of few passes: each entry of its call site begins one. False: there is no memory.
bool begin_by_entries(const EventLog& log, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions, Loop& loop) noexcept;

} // namespace libprofile
