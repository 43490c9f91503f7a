// Which kept parts of a rank's threads have tasks of OpenMP, and belong together.
// Contract: thread-safe (no state); allocates in proportion to the parts; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// A kept part of one thread.
struct TaskPart {
    std::uint32_t location = 0; // position in Profile::locations
    std::uint32_t part = 0;     // in its KeptEvents::parts
};

/// What the threads of a rank did in the same iteration, or in windows that follow each other without a gap.
struct TaskStretch {
    PartKind kind = PartKind::Window;
    std::uint32_t phase = EventPart::no_phase;
    std::uint64_t first = 0, last = 0; // number of the iteration (from 0), or of the first and the last window
    std::uint64_t begin_ns = 0;        // of the thread that began first
    std::vector<TaskPart> parts;
};

/// Those in which tasks were created or ran, in the order of time.
std::vector<TaskStretch> task_stretches(const Profile& profile, std::uint32_t rank);

/// The parts of all of them.
std::vector<TaskPart> parts_of(const std::vector<TaskStretch>& stretches);

} // namespace libprofile::tools
