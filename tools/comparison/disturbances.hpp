// Which changes between single runs the machine may have made: a processor that was slower for a while, other programs beside the job.
// Contract: thread-safe (no state); throws std::bad_alloc only.
#pragma once

#include "tools/comparison/segment_change.hpp"

#include <vector>

namespace libprofile::tools {

/// A change stays one if something speaks for the program (change_evidence.hpp); or if it lasts to the last iteration, for a tenth of all, is about as
/// large everywhere, and takes twice as much in all as any other change for which nothing speaks. A machine is slower for a while, a program from a step
/// on.
/// @param segments all of a comparison, in the order of time; those of which the machine may be the cause are no changes afterwards
void drop_disturbances(std::vector<SegmentChange>& segments);

} // namespace libprofile::tools
