// The Topology block of this process (format/topology.hpp).
// Contract: as for serializer.hpp.
#pragma once

#include "libprofile/output/written_locations.hpp"

namespace libprofile {

class BlockBuffer;

/// Returns false if memory for the block is short.
bool write_topology(BlockBuffer& buffer, RunningThread running) noexcept;

} // namespace libprofile
