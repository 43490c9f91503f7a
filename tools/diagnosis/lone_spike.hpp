// One iteration, or up to three, that are so much longer on some ranks that nothing has to be known about jitter to tell them.
// Contract: thread-safe (no state); allocates 4 bytes an iteration; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/suspect.hpp"

#include <optional>

namespace libprofile::tools {

/// From how much excess on an iteration of a rank is told whatever its jitter is: ns. It costs enough by itself, and is many times the usual.
double no_jitter_from(const RunModel& model, double least_sum);

/// The largest excess of all, if hardly another iteration has a tenth of it: its ranks, and the other iterations of these that have. It would be hidden
/// in the mean of what else the ranks do, whether that has a pattern or is jitter.
std::optional<Suspect> lone_spike(const RunModel& model, double least_sum);

} // namespace libprofile::tools
