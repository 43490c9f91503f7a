#include "tools/diagnosis/moving_suspect.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::size_t fewest_iterations = 50; // iterations
constexpr std::size_t block_length = 25;      // iterations whose low level a value is compared with
constexpr double fewer = 0.5;                 // of the iterations without a long rank that chance would leave
constexpr double fewest_left = 20;            // of these: fewer say nothing
constexpr double most_of_one = 0.8;

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
    // The border that as many values are above as there are iterations; some of the iterations tell it.
    const std::size_t step = std::max<std::size_t>(1, above.size() / 1'000'000);
    std::vector<float> some;
    for (std::size_t i = 0; i < n; i += step)
        for (std::size_t r = 0; r < ranks; ++r) some.push_back(above[r * n + i]);
    const float border = quantile(std::move(some), 1 - 1 / static_cast<double>(ranks));
    std::vector<std::size_t> longest(n);
    std::vector<double> share(ranks), wins(ranks);
    double without = 0, by_chance = 1;
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t i = 0; i < n; ++i) {
            share[r] += above[r * n + i] > border ? 1 : 0;
            if (above[r * n + i] > above[longest[i] * n + i]) longest[i] = r;
        }
        by_chance *= 1 - share[r] / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
        without += above[longest[i] * n + i] <= border ? 1 : 0;
        ++wins[longest[i]];
    }
    by_chance *= static_cast<double>(n);
    if (by_chance < fewest_left || without > fewer * by_chance) return std::nullopt;
    if (*std::max_element(wins.begin(), wins.end()) > most_of_one * static_cast<double>(n)) return std::nullopt;
    Suspect suspect;
    suspect.kind = SuspectKind::MovingRank;
    suspect.pattern.kind = PatternKind::Steady;
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
