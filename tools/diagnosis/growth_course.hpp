// How something grows over a run: in a line, or one that bends; or shrinks in the same ways.
// Contract: pure; thread-safe; allocates nothing.
#pragma once

#include <cmath>
#include <cstddef>

namespace libprofile::tools {

inline constexpr std::size_t growth_courses = 6; // the last three shrink

/// From 0 to 1. @param at from 0 to 1, of the run
inline double growth_course(std::size_t course, double at) {
    constexpr double powers[] = {1, 2, 0.5};
    return std::pow(course < 3 ? at : 1 - at, powers[course % 3]);
}
/// In the middle of a part of the run.
inline double growth_course(std::size_t course, std::size_t part, std::size_t parts) {
    return growth_course(course, (static_cast<double>(part) + 0.5) / static_cast<double>(parts));
}

} // namespace libprofile::tools
