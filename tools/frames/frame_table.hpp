// The call table of a frame: how profiles of other tools come into the formats of tools/export and into the page.
// Contract: thread-safe (no state); allocates; throws FrameError, std::bad_alloc.
#pragma once

#include "tools/export/formats.hpp"
#include "tools/frames/frame.hpp"

namespace libprofile::tools {

/// Tables have whole numbers that are not negative: others are rounded or left out, and a remark says so.
/// @throws FrameError when the frame has no such metric, rank or value
CallTable table_of(const Frame& frame, const TableChoice& choice, Remarks& remarks);

/// What a frame tells of the job: ranks, hosts and threads, and what it was read from in place of the command.
Profile job_of(const Frame& frame);

} // namespace libprofile::tools
