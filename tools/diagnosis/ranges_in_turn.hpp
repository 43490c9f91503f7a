// Work that stays with a rank for many iterations and then goes on to another one: no rank has much of it, and it always is on one.
// Contract: thread-safe (no state); starts threads and waits for them; allocates some 20 bytes per rank and iteration; throws std::bad_alloc only.
//
// Each rank's excess has two levels. Drifts of ranks that do not know of each other lie over each other and leave gaps; turns do neither.
#pragma once

#include "tools/diagnosis/suspect.hpp"

#include <optional>

namespace libprofile::tools {

std::optional<Suspect> ranges_in_turn(const RunModel& model);

} // namespace libprofile::tools
