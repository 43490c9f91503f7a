// When the iterations of a thread begin in a picture, and which of them lie in others.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// The profile has when each iteration of the thread began: not of killed jobs, of files of earlier builds and where memory was short.
bool are_begins_known(const Location& location);

/// For each of location.phases the begins of its iterations in ns, since the rank's clock began. If not all are known, they are laid from 0, end to
/// end: those of a loop inside another begin with the iteration that they lie in, where the profile knows which that is. Iterations of one phase
/// never overlap.
std::vector<std::vector<std::uint64_t>> iteration_begins(const Location& location);

/// For each of location.phases the iterations, in ascending order, that are `range` of one of these phases or lie inside it, at any depth.
std::vector<std::vector<IterationRange>> iterations_within(const Location& location, std::uint32_t phase, IterationRange range);

} // namespace libprofile::tools
