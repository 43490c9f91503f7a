#include "tools/timeseries/difference.hpp"

#include "tools/timeseries/matching.hpp"
#include "tools/timeseries/profile_nodes.hpp"

#include <cmath>

namespace libprofile::tools {

namespace {

/// Own time before child `i`; after the last child for i = their number.
double gap_before(const TimeNode& node, std::size_t i) { return i < node.children.size() ? node.children[i].gap : node.tail; }

} // namespace

double TreeDifference::gap(double a, double b) const { return std::max(0.0, std::abs(a - b) - tolerance_); }

/// The difference to a node without children and time.
double TreeDifference::to_nothing(const TimeNode& node) const {
    double sum = gap(own_time(node), 0);
    for (const TimeNode& child : node.children) sum += to_nothing(child);
    for (const TimeNode& iteration : node.clusters) sum += iteration.count * to_nothing(iteration);
    return sum;
}

double TreeDifference::of_children(const TimeNode& a, const TimeNode& b, bool in_order) const {
    double sum = 0, gap_a = gap_before(a, 0), gap_b = gap_before(b, 0);
    match_children(
        *order_, a.children, b.children, in_order,
        [&](std::size_t i, std::size_t j) {
            if (in_order) { // a profile's own time is one sum
                sum += gap(gap_a, gap_b);
                gap_a = gap_b = 0;
            }
            sum += (*this)(a.children[i], b.children[j]);
            gap_a += gap_before(a, i + 1);
            gap_b += gap_before(b, j + 1);
        },
        [&](std::size_t i) {
            sum += to_nothing(a.children[i]);
            gap_a += gap_before(a, i + 1);
        },
        [&](std::size_t j) {
            sum += to_nothing(b.children[j]);
            gap_b += gap_before(b, j + 1);
        });
    return sum + gap(gap_a, gap_b);
}

double TreeDifference::of_loops(const TimeNode& a, const TimeNode& b) const {
    double sum = of_children(a, b, false); // what was rejected
    if (a.iterations.empty() && b.iterations.empty()) return sum;
    IterationPairs(a, b).for_each([&](std::size_t x, std::size_t y, std::uint32_t count) {
        sum += count * (x == a.clusters.size()   ? to_nothing(b.clusters[y])
                        : y == b.clusters.size() ? to_nothing(a.clusters[x])
                                                 : (*this)(a.clusters[x], b.clusters[y]));
    });
    return sum;
}

double TreeDifference::operator()(const TimeNode& a, const TimeNode& b) const {
    if (a.kind != b.kind) return (*this)(profile_of(a), profile_of(b));
    if (a.kind == TimeKind::Loop) return of_loops(a, b);
    return of_children(a, b, a.kind != TimeKind::Profile);
}

double TreeDifference::ratio(const TimeNode& a, const TimeNode& b) const {
    const double time = a.duration + b.duration;
    return time > 0 ? (*this)(a, b) / time : 0;
}

} // namespace libprofile::tools
