#include "tools/diagnosis/moving_suspect.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/diagnosis/levels.hpp"
#include "tools/diagnosis/turn_period.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace libprofile::tools {

namespace {

constexpr std::size_t fewest_iterations = 50; // iterations
constexpr std::size_t block_length = 25;      // iterations whose low level a value is compared with
constexpr double fewer = 0.85;                // of the iterations without a long rank that chance would leave
constexpr double certain = 4;                 // deviations by which there are fewer
constexpr double fewest_left = 20;            // of these: fewer say nothing
constexpr double most_of_one = 0.8;

/// How far values below the level of a rank lie below it: its usual jitter, whatever it has above.
float spread_below(std::span<const float> above) { return std::max(1.0f, -quantile(std::vector<float>(above.begin(), above.end()), 0.05)); }

/// By rank, iteration: how much longer than usual for the rank at that time; not than other ranks, of which one is always the longest.
std::vector<float> above_own_level(const RunModel& model) {
    const std::size_t n = model.iterations();
    std::vector<float> above(model.ranks() * n);
    in_parallel(model.ranks(), [&](std::size_t r) {
        std::vector<float> values;
        for (std::size_t first = 0; first < n; first += block_length) {
            // The last block is as long as the others.
            const std::size_t end = std::min(n, first + block_length), from = end - std::min(end, block_length);
            values.clear();
            for (std::size_t i = from; i < end; ++i) values.push_back(model.local(r, i));
            const auto low = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 3 / 10);
            std::nth_element(values.begin(), low, values.end());
            for (std::size_t i = first; i < end; ++i) above[r * n + i] = model.local(r, i) - *low;
        }
    });
    return above;
}

} // namespace

std::optional<Suspect> moving_suspect(const RunModel& model) {
    const std::size_t n = model.iterations(), ranks = model.ranks();
    if (n < fewest_iterations || ranks < 2) return std::nullopt;
    const std::vector<float> above = above_own_level(model);
    std::vector<float> scale(ranks);
    in_parallel(ranks, [&](std::size_t r) { scale[r] = 1 / spread_below(std::span(above).subspan(r * n, n)); });
    const auto scaled = [&](std::size_t r, std::size_t i) { return above[r * n + i] * scale[r]; };
    // The border that as many values are above as there are iterations; some of the iterations tell it.
    const std::size_t step = std::max<std::size_t>(1, above.size() / 1'000'000);
    std::vector<float> some;
    for (std::size_t i = 0; i < n; i += step)
        for (std::size_t r = 0; r < ranks; ++r) some.push_back(scaled(r, i));
    const float border = quantile(std::move(some), 1 - 1 / static_cast<double>(ranks));
    std::vector<std::size_t> longest(n);
    std::vector<double> share(ranks), wins(ranks);
    double without = 0, by_chance = 1;
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t i = 0; i < n; ++i) {
            share[r] += scaled(r, i) > border ? 1 : 0;
            if (scaled(r, i) > scaled(longest[i], i)) longest[i] = r;
        }
        by_chance *= 1 - share[r] / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
        without += scaled(longest[i], i) <= border ? 1 : 0;
        ++wins[longest[i]];
    }
    const double deviation = std::sqrt(static_cast<double>(n) * by_chance * (1 - by_chance));
    by_chance *= static_cast<double>(n);
    if (by_chance < fewest_left || without > std::min(fewer * by_chance, by_chance - certain * deviation)) return std::nullopt;
    if (*std::max_element(wins.begin(), wins.end()) > most_of_one * static_cast<double>(n)) return std::nullopt;
    Suspect suspect;
    suspect.kind = SuspectKind::MovingRank;
    suspect.pattern.kind = PatternKind::Steady;
    suspect.pattern.period = turn_period(longest, ranks);
    suspect.pattern.excess.resize(n);
    std::vector<std::size_t> part_of(ranks, ranks);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t r = longest[i];
        const float excess = std::min(above[r * n + i], model.local(r, i) - model.base()[i]);
        if (excess <= 0) continue;
        if (part_of[r] == ranks) {
            part_of[r] = suspect.parts.size();
            suspect.parts.push_back({r, std::vector<float>(n)});
            suspect.rows.push_back(r);
        }
        suspect.parts[part_of[r]].ns[i] = suspect.pattern.excess[i] = excess;
        suspect.pattern.sum += excess;
    }
    suspect.gain = model.gain_without(suspect.parts);
    return suspect;
}

} // namespace libprofile::tools
