// Whom ranks that wait exchange their messages with, where that is certain.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// "rank 3 receives there from rank 2 only, rank 5 from ranks 2, 4 only"; empty if it is not certain for any of the ranks. Over the whole run, by
/// their main threads.
/// @param spot MPI function and caller
std::string partners_there(const Profile& profile, const SpotTable& spots, std::uint32_t spot, MessageDirection direction,
                           const std::vector<std::uint32_t>& ranks);

/// All messages of the thread there come from its own rank or go to it, for certain.
bool has_only_itself_there(const Location& location, const SpotTable& spots, std::uint32_t spot);

} // namespace libprofile::tools
