// How many iterations of a loop of the code the profile knows: of marked and of found loops.
// Contract: thread-safe; allocates in proportion to the call paths; throws std::bad_alloc only.
#pragma once

#include "tools/timeseries/contexts.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace libprofile::tools {

/// By loop, sums over these threads. A phase whose loop is not in the contexts, or that ran in several of them, is left out.
std::map<ContextId, std::uint64_t> actual_iterations(const Profile& profile, const std::vector<const Location*>& threads, const Contexts& contexts,
                                                     const LoopSource& loops);

} // namespace libprofile::tools
