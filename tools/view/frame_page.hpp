// The data of the page of a profile of another tool: trees, ranks and the sentences of its report. What needs iterations is absent.
// Contract: thread-safe (no state); allocates; throws FrameError, std::bad_alloc.
#pragma once

#include "tools/frames/frame.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// As page_data() (page_data.hpp) of a profile of libprofile's own.
/// @param metrics empty: all, or in a large profile the main one
std::string frame_page_data(const Frame& frame, const std::vector<std::string>& metrics);

} // namespace libprofile::tools
