#include "tools/diagnosis/one_factor.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

double odds_of_one_factor(std::span<const ComparedFunction> functions) {
    constexpr double uneven = 0.25; // of what a slow processor adds: it does not slow all code by quite the same factor
    // Deviations: of one function, and of the one of many that is furthest off by chance.
    const double too_far = std::sqrt(2.5 * 2.5 + 2 * std::log(static_cast<double>(std::max<std::size_t>(1, functions.size()))));
    constexpr double longest = 700; // logarithm of a double
    double here = 0, there = 0;
    for (const ComparedFunction& f : functions) {
        here += f.here;
        there += f.there;
    }
    if (functions.size() < 2 || there <= 0 || here <= there) return functions.size() < 2 ? 1 : 0;
    const double more = here / there - 1, excess = here - there;
    // Squares of deviations: with one factor, and with no difference.
    double with_factor = 0, without = 0;
    for (const ComparedFunction& f : functions) {
        if (f.error <= 0) return 0;
        const double off = f.here - (1 + more) * f.there, room = std::hypot(f.error, uneven * more * f.there);
        if (std::abs(off) > too_far * room) return 0;
        with_factor += off / f.error * (off / f.error);
        without += (f.here - f.there) / f.error * ((f.here - f.there) / f.error);
    }
    double with_one = 0;
    for (const ComparedFunction& f : functions) {
        const double alone = (f.here - f.there) / f.error, rest = (f.here - f.there - excess) / f.error;
        const double squares = without - alone * alone + rest * rest;
        with_one += f.there / there * std::exp(std::clamp((with_factor - squares) / 2, -longest, longest));
    }
    return with_one <= 0 ? std::exp(longest) : 1 / with_one;
}

} // namespace libprofile::tools
