// How something grows over a run: in a line, or one that bends, or levels off; or shrinks in the same ways.
// Contract: pure; thread-safe; allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace libprofile::tools {

/// 1 - (1 - x^bends)^levels, from 0 to 1: a line, if both are 1.
/// Source: P. Kumaraswamy, "A generalized probability density function for double-bounded random processes", Journal of Hydrology 46 (1980).
struct GrowthShape {
    double bends, levels;

    double at(double x) const { return 1 - std::pow(1 - std::pow(x, bends), levels); }
    /// Where it reaches a share of its largest.
    double reaches(double share) const { return std::pow(1 - std::pow(1 - share, 1 / levels), 1 / bends); }
};

inline constexpr std::array<GrowthShape, 12> growth_shapes{
    {{1, 1}, {2, 1}, {0.5, 1}, {0.7, 1}, {1.4, 1}, {2.8, 1}, {1, 2}, {2, 2}, {0.5, 2}, {0.7, 2}, {1.4, 2}, {2.8, 2}}};
inline constexpr std::size_t plain_shapes = 3; // the first ones: the others only tell where it began
inline constexpr std::size_t courses_of_growth = growth_shapes.size();
inline constexpr std::size_t growth_courses = 2 * courses_of_growth; // the second half shrink
inline constexpr double simpler_growth = 2;                          // times as likely a line is before anything is known

/// From 0 to 1. @param at from 0 to 1, of the run
inline double growth_course(std::size_t course, double at) { return growth_shapes[course % courses_of_growth].at(course < courses_of_growth ? at : 1 - at); }
/// In the middle of a part of the run.
inline double growth_course(std::size_t course, std::size_t part, std::size_t parts) {
    return growth_course(course, (static_cast<double>(part) + 0.5) / static_cast<double>(parts));
}

/// Where something that grows began: where a tenth of the largest is there. Which shape it has may be open; then the place after which the most of the run
/// is expected to be right, as the overlap of both parts of the run.
/// @param weights of the shapes, by how likely they are
/// @return from 0 to 1, of the run
inline double growth_begins(std::span<const double> weights) {
    constexpr double smallest_part = 0.1;
    double best = 0, most = -1;
    for (std::size_t s = 0; s < weights.size(); ++s) {
        const double begin = growth_shapes[s].reaches(smallest_part);
        double right = 0;
        for (std::size_t other = 0; other < weights.size(); ++other) {
            const double truth = growth_shapes[other].reaches(smallest_part);
            right += weights[other] * (1 - std::max(begin, truth)) / (1 - std::min(begin, truth));
        }
        if (right > most) most = right, best = begin;
    }
    return best;
}

} // namespace libprofile::tools
