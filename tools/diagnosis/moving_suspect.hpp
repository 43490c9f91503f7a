// One rank is longer than the others in each iteration, and a different one at different times.
// Contract: thread-safe (no state); starts threads and waits for them; allocates 4 bytes per rank and iteration, and then some for what it finds;
// throws std::bad_alloc only.
//
// Jitter makes some rank the longest, too, and its distribution may be of any shape. But ranks do not agree whose turn it is: of the longest
// iterations of all ranks, as many as there are iterations, jitter leaves some iterations with several and many with none. If much fewer have none,
// something that the ranks share is handed on.
#pragma once

#include "tools/diagnosis/suspect.hpp"

#include <optional>

namespace libprofile::tools {

std::optional<Suspect> moving_suspect(const RunModel& model);

} // namespace libprofile::tools
