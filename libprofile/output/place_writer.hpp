// The Place block of this process (format/place.hpp).
// Contract: as serializer.hpp. `place` has been read.
#pragma once

#include "libprofile/output/written_locations.hpp"

namespace libprofile {

class BlockBuffer;

/// False: no memory for the block.
bool write_place(BlockBuffer& buffer, RunningThread running) noexcept;

} // namespace libprofile
