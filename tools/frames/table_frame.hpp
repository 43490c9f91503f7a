// The frame of a call table: of a profile of libprofile's own.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc.
#pragma once

#include "tools/export/call_table.hpp"
#include "tools/frames/frame.hpp"

namespace libprofile::tools {

/// All that the table has but errors. Nodes keep their numbers.
Frame frame_of(const CallTable& table);

} // namespace libprofile::tools
