// Machines as nested boxes, as lstopo draws them: packages, NUMA nodes, caches, cores and processors, with the ranks and threads that were last seen there.
// Contract: thread-safe (no state); allocates in proportion to the parts of the machines; throws std::bad_alloc only. Names are escaped.
#pragma once

#include "tools/analysis/machine_places.hpp"
#include "tools/plot/svg.hpp"

#include <span>

namespace libprofile::tools {

/// One below the other, each with the distances of its NUMA nodes; at the end a line that names machines without a tree.
Svg machine_picture(std::span<const PlacedMachine> machines);

} // namespace libprofile::tools
