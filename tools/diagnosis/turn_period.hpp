// Whether ranks are the longest ones in an order that comes again and again.
// Contract: thread-safe (no state); allocates 8 bytes for each distance and rank; throws std::bad_alloc only;
// takes a step for each pair of an iteration and one of 2,000 distances.
#pragma once

#include <cstddef>
#include <span>

namespace libprofile::tools {

/// After how many iterations the same ranks have their turns again; 0 if they have no order that two rounds of it would show beyond chance.
/// @param longest by iteration: a rank
std::size_t turn_period(std::span<const std::size_t> longest, std::size_t ranks);

} // namespace libprofile::tools
