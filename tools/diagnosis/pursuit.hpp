// All suspects of a phase, one after another: the one with the largest gain is taken away before the next is looked for, so that causes at the same
// time are told apart.
// Contract: thread-safe (no state); starts threads and waits for them; allocates; throws std::bad_alloc only.
// Source of the procedure: S. G. Mallat and Z. Zhang, "Matching pursuits with time-frequency dictionaries", IEEE Trans. Signal Processing 41 (1993).
#pragma once

#include "tools/diagnosis/suspect.hpp"

#include <vector>

namespace libprofile::tools {

/// In the order in which they were found. @param least_sum ns: what gains the run less is left out
std::vector<Suspect> find_suspects(const IterationMatrix& matrix, double least_sum);

} // namespace libprofile::tools
