#include "tools/diagnosis/turn_period.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace libprofile::tools {

namespace {

constexpr std::size_t longest_period = 2000; // iterations
constexpr double least_alike = 0.3;          // of the iterations, beyond chance: less is no order that anybody would see
constexpr double certain = 3;                // deviations above the largest that chance makes of so many distances
constexpr double as_good = 0.75;             // of the best distance: then the shorter one is the period, and the others are multiples of it

} // namespace

std::size_t turn_period(std::span<const std::size_t> longest, std::size_t ranks) {
    const std::size_t n = longest.size(), most = std::min(longest_period, n / 2);
    if (most < 2 || ranks < 2) return 0;
    double by_chance = 0; // that two iterations have the same rank
    std::vector<double> wins(ranks);
    for (const std::size_t rank : longest) wins[rank] += 1 / static_cast<double>(n);
    for (const double share : wins) by_chance += share * share;
    if (by_chance >= 1) return 0;
    std::vector<double> alike(most + 1); // beyond chance, by distance
    for (std::size_t distance = 1; distance <= most; ++distance) {
        double same = 0;
        for (std::size_t i = distance; i < n; ++i) same += longest[i] == longest[i - distance] ? 1 : 0;
        alike[distance] = (same / static_cast<double>(n - distance) - by_chance) / (1 - by_chance);
    }
    const double best = *std::max_element(alike.begin() + 2, alike.end());
    // A rank that stays is its own neighbour: a turn comes again after another one's, and most exactly at the period.
    std::size_t period = 1;
    while (period <= most && alike[period] > best / 2) ++period;
    while (period <= most && alike[period] < as_good * best) ++period;
    if (period > most) return 0;
    for (std::size_t next = period + 1; next <= most && alike[next] > best / 2; ++next)
        if (alike[next] > alike[period]) period = next;
    if (alike[period] < least_alike) return 0;
    // Iterations of a rank that stays say less than their number.
    const double stays = std::clamp(alike[1], 0.0, 0.98), told = static_cast<double>(n - period) * (1 - stays) / (1 + stays);
    const double deviation = std::sqrt(by_chance / (1 - by_chance) / std::max(1.0, told));
    return alike[period] > (std::sqrt(2 * std::log(static_cast<double>(most))) + certain) * deviation ? period : 0;
}

} // namespace libprofile::tools
