// The path of the call tree along which most of a metric lies.
// Contract: thread-safe (no state); allocates its result; throws FrameError, std::bad_alloc.
// Source: Adhianto, Mellor-Crummey, Tallent (ICPP 2010); Cankur et al., "Chopper" (section 4.1).
#pragma once

#include "tools/frames/frame.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace libprofile::tools {

struct HotPathChoice {
    std::optional<std::uint32_t> start = {}; // node; else the child of the program with most, or the program itself if it has no children
    double threshold = 0.5;                  // a child belongs to the path if it has more than this share of its parent
    bool is_inclusive = true;                // inclusive values decide; else own ones
    bool with_next = false;                  // as Hatchet: also the first child that has less; one that has just the share belongs to the path
};

/// Nodes from the start on; at each the child with the largest value over all places.
/// @throws FrameError when the metric or the start is not there
std::vector<std::uint32_t> hot_path(const Frame& frame, std::string_view metric, const HotPathChoice& choice);
/// @param sums values by node: inclusive ones, or own ones, as the choice says
std::vector<std::uint32_t> hot_path_of(const Frame& frame, std::span<const double> sums, const HotPathChoice& choice);

} // namespace libprofile::tools
