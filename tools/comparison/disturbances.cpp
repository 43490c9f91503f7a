#include "tools/comparison/disturbances.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr double above_others = 2;     // times the largest disturbance
constexpr double about_as_large = 0.5; // of the mean
constexpr double short_part = 0.02;    // of the iterations: says nothing of how long a change lasts
constexpr double long_part = 0.1;      // of the iterations: longer than the last disturbance may be

bool is_unexplained(const SegmentChange& one) { return one.is_change && one.evidence == ChangeEvidence::None; }

/// The first of the segments that are slower or faster to the end, alike.
std::size_t first_of_last_change(const std::vector<SegmentChange>& segments, std::uint64_t pairs) {
    double direction = 0;
    std::size_t first = segments.size();
    for (std::size_t s = segments.size(); s-- > 0;) {
        const SegmentChange& one = segments[s];
        const bool continues = one.is_change && direction * one.total() >= 0;
        if (!continues && static_cast<double>(one.pairs) >= short_part * static_cast<double>(pairs)) break;
        if (!continues) continue;
        direction = one.total() > 0 ? 1 : -1;
        first = s;
    }
    return first;
}

} // namespace

void drop_disturbances(std::vector<SegmentChange>& segments) {
    std::uint64_t pairs = 0;
    for (const SegmentChange& one : segments) pairs += one.pairs;
    const std::size_t first = first_of_last_change(segments, pairs);
    double lasting = 0, lasting_pairs = 0, largest_other = 0;
    for (std::size_t s = 0; s < segments.size(); ++s) {
        if (!is_unexplained(segments[s])) continue;
        if (s < first)
            largest_other = std::max(largest_other, std::abs(segments[s].total()));
        else
            lasting += segments[s].total(), lasting_pairs += static_cast<double>(segments[s].pairs);
    }
    bool is_even = true;
    for (std::size_t s = first; s < segments.size(); ++s)
        if (is_unexplained(segments[s]) && static_cast<double>(segments[s].pairs) >= short_part * static_cast<double>(pairs))
            is_even = is_even && std::abs(segments[s].each.difference()) >= about_as_large * std::abs(lasting / lasting_pairs);
    const bool is_told = is_even && lasting_pairs >= long_part * static_cast<double>(pairs) && std::abs(lasting) >= above_others * largest_other;
    for (std::size_t s = 0; s < segments.size(); ++s) {
        if (!is_unexplained(segments[s]) || (s >= first && is_told)) continue;
        segments[s].is_change = false;
        segments[s].is_disturbance = true;
    }
}

} // namespace libprofile::tools
