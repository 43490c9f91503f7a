// Where ranks ran, for those that look slow.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// "it ran on core 5 of node3; the other 7 ranks there are not slow", "they are all 8 ranks on node3"; empty if the profile does not tell.
std::string seats_text(const Profile& profile, const std::vector<std::uint32_t>& ranks);

} // namespace libprofile::tools
