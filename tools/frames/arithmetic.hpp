// Sums and differences of frames.
// Contract: thread-safe (no state); allocates; throws FrameError, std::bad_alloc.
#pragma once

#include "tools/frames/frame.hpp"

namespace libprofile::tools {

/// a + factor * b, place by place (rank and thread) of either, for the metrics that both have. Call paths are matched as by unify().
/// What only one has counts alone: it is absent in the other, which spent nothing there. What is absent in both stays absent.
/// @throws FrameError when they have no metric in common, or one in different units
Frame added(const Frame& a, const Frame& b, double factor);

/// All values times a factor.
Frame scaled(const Frame& frame, double factor);

} // namespace libprofile::tools
