// The report of a profile of another tool: where the metric lies, by function and call path, and how unequal ranks and threads are.
// Contract: thread-safe (no state); allocates its result; throws FrameError, std::bad_alloc.
#pragma once

#include "tools/frames/frame.hpp"
#include "tools/report/document.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace libprofile::tools {

struct FrameReportChoice {
    std::vector<std::string> metrics; // the first one orders the tables; empty: time and no other
    std::size_t top = 0;              // rows of a table; 0 shows as many as fit a screen, or all
    bool everything = false;          // for programs: all rows, unless `top` has a number
};

/// @throws FrameError when a metric is not there, or has no values
ReportDocument frame_report(const Frame& frame, const FrameReportChoice& choice);

} // namespace libprofile::tools
