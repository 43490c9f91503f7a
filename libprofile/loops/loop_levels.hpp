// Nested loops: those inside and around one that was found.
//
// Contract: on the thread of the log, with its in-tool flag set; scratch memory under the quota; integers only; one reading of the log.
//
// Programs have loops at several levels: output intervals, time steps, iterations of a solver. Each is a function that stays on the stack while it
// enters a call site repeatedly. Those further inside are called anew in each outer pass, so their passes are counted over all activations.
// A level inside a found loop counts if it has most of the loop's time, if its passes are long enough to be iterations, and if there are more of
// them than stages of a step. A level around it counts if each of its passes calls the function of the found loop.
#pragma once

#include "libprofile/loops/event_list.hpp"
#include "libprofile/loops/loop.hpp"
#include "libprofile/loops/mpi_traits.hpp"

namespace libprofile {

struct LoopLevel {
    LoopCandidate candidate;
    std::uint32_t around = 0; // its position in the list + 1, 0 if there is none
};

struct LoopLevels {
    static constexpr std::uint32_t most = 8;
    LoopLevel level[most]; // outer levels first
    std::uint32_t count = 0;
    std::uint32_t found = 0; // position of the loop that was asked about
};

/// Closing an inner iteration interrupts an outer one, for 10 to 30 us. Shorter passes would lose more than some percents. Further inside are no time
/// steps any more, but what a solver does again and again: that may take one percent.
constexpr std::uint64_t shortest_inner_pass_ns = 300000, shortest_further_pass_ns = 2000000;
/// Passes of a level inside one that has a level around it (`is_further`), or has none.
constexpr std::uint64_t shortest_pass_ns(bool is_further) { return is_further ? shortest_further_pass_ns : shortest_inner_pass_ns; }
/// The same of a loop that was followed as the time loop until one around it, in the same function, has shown.
constexpr std::uint64_t shortest_followed_pass_ns = 100000;

/// Whether passes of an inner loop are more than the stages of a step, and long enough.
bool are_inner_passes(const Entries& entries, std::uint64_t shortest_ns) noexcept;

/// Returns the levels of `loop` and `loop` itself; `loop` alone if memory is short.
LoopLevels find_levels(const EventList& events, const CallTree& tree, const LoopCandidate& loop) noexcept;

/// Finds, by the code, a level inside `outer` in the same function, with passes of at least `shortest_ns`. It begins at each entry of a call site.
/// Returns false if there is none.
bool find_level_here(const EventList& events, const CallTree& tree, const Loop& outer, const FunctionTraits& functions, std::uint64_t shortest_ns,
                     Loop& inner) noexcept;

/// Makes a loop of few passes, which begin at each entry of its call site. Returns false if memory is short.
bool begin_by_entries(const EventList& events, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions, Loop& loop) noexcept;

} // namespace libprofile
