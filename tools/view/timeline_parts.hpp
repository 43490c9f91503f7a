// Which kept parts of a run's events a page has room for.
// Contract: one thread; allocates in proportion to the parts; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct ChosenParts {
    std::vector<std::vector<bool>> is_in; // by location, then part
    std::uint64_t all = 0, left_out = 0;  // parts that are different: an iteration counts once for all ranks
    std::uint64_t events_left_out = 0;
};

/// Takes whole parts, of all threads that have them: first those that most threads have, of these the ones whose number is divisible by the highest
/// power of two, as the runtime does. What does not fit any more is passed over.
/// @param room bytes, as event_bytes_of() estimates them
ChosenParts choose_parts(const Profile& profile, std::uint64_t room);

/// About what a part takes in a page before compression.
std::uint64_t event_bytes_of(const EventPart& part);

} // namespace libprofile::tools
