// What the runtime found of the time loop of a program that marks no iterations, over all ranks, in sentences.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/analysis/loop_of_ranks.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Main threads only; the loop with most ranks first, then the frames of loops inside, and last those that were replaced.
std::vector<LoopOfRanks> loops_of(const Profile& profile);

/// What was found and how sure that is, where ranks differ, and what to do otherwise; empty if loops were not searched for.
std::vector<std::string> loop_sentences(const Profile& profile);

} // namespace libprofile::tools
