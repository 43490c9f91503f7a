// Ranks that take longer than the others, by what they do themselves: always the same ones, or one after another.
// Contract: thread-safe (no state); starts threads and waits for them; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/suspect.hpp"

#include <vector>

namespace libprofile::tools {

/// @param least_sum ns: suspects with less excess are none; the run may gain less without it, if other ranks are as long
std::vector<Suspect> rank_suspects(const RunModel& model, double least_sum);

} // namespace libprofile::tools
