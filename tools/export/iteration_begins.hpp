// When the iterations of a thread begin in a picture: the profile has how long they took, not when they began; and which of them lie in
// others.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// For each of location.phases the begins of its iterations in ns, from 0, end to end. Those of a loop inside another begin with the
/// iteration that they lie in, where the profile knows which that is. Iterations of one phase never overlap.
std::vector<std::vector<std::uint64_t>> iteration_begins(const Location& location);

/// For each of location.phases the iterations, in ascending order, that are `range` of one of these phases or lie inside it, at any depth.
std::vector<std::vector<IterationRange>> iterations_within(const Location& location, std::uint32_t phase, IterationRange range);

} // namespace libprofile::tools
