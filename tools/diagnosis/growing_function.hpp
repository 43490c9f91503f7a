// Work of all ranks that grows, or shrinks, in one function, told by samples: how much, and how it bends. The machine gets slower and faster for all
// ranks, too, and a small growth cannot be told from that by time; but then all functions take their usual shares.
// Contract: thread-safe (no state); starts threads and waits for them; allocates; reads at most 64 ranks; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/named_spots.hpp"
#include "tools/diagnosis/suspect.hpp"

#include <vector>

namespace libprofile::tools {

/// Adds the suspect, or says more exactly of one that is there how much it grows, if a function tells it beyond doubt and time agrees.
/// @param found suspects of these iterations
void grow_by_function(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names, double least_sum, std::vector<Suspect>& found);

} // namespace libprofile::tools
