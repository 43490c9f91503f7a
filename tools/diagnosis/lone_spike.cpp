#include "tools/diagnosis/lone_spike.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

constexpr double many_times = 10;      // a typical iteration
constexpr std::size_t fewest = 10;     // iterations: of fewer none is the usual
constexpr std::size_t most_spikes = 3; // iterations: more may have a pattern

} // namespace

double no_jitter_from(const RunModel& model, double least_sum) { return std::max(least_sum, many_times * model.typical()); }

std::optional<Suspect> lone_spike(const RunModel& model, double least_sum) {
    const std::size_t ranks = model.ranks(), iterations = model.iterations();
    if (iterations < fewest || ranks < 2) return std::nullopt;
    const auto excess_at = [&](std::size_t r, std::size_t i) { return model.local(r, i) - model.base()[i]; };
    std::vector<float> highest(iterations);
    for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < iterations; ++i) highest[i] = std::max(highest[i], excess_at(r, i));
    const auto top = static_cast<std::size_t>(std::max_element(highest.begin(), highest.end()) - highest.begin());
    if (highest[top] < no_jitter_from(model, least_sum)) return std::nullopt;
    const auto alike = static_cast<float>(trifle * highest[top]);
    if (std::count_if(highest.begin(), highest.end(), [&](float x) { return x >= alike; }) > static_cast<std::ptrdiff_t>(most_spikes)) return std::nullopt;
    const auto ranks_in = [&](std::size_t i) {
        std::vector<std::size_t> rows;
        for (std::size_t r = 0; r < ranks; ++r)
            if (excess_at(r, i) >= alike) rows.push_back(r);
        return rows;
    };
    Suspect suspect;
    suspect.rows = ranks_in(top);
    for (const std::size_t r : suspect.rows) suspect.parts.push_back({r, std::vector<float>(iterations)});
    suspect.pattern.excess.resize(iterations);
    std::size_t last = 0;
    for (std::size_t i = 0; i < iterations; ++i) {
        if (highest[i] < alike || ranks_in(i) != suspect.rows) continue;
        for (RankExcess& part : suspect.parts) part.ns[i] = excess_at(part.rank, i);
        suspect.pattern.excess[i] = highest[i];
        suspect.pattern.sum += highest[i];
        last = i;
    }
    suspect.pattern.kind = suspect.pattern.excess[0] > 0 && is_at_the_start(last, iterations) ? PatternKind::WarmUp : PatternKind::Scattered;
    std::sort(suspect.rows.begin(), suspect.rows.end(), [&](std::size_t a, std::size_t b) { return excess_at(a, top) > excess_at(b, top); });
    suspect.gain = model.gain_without(suspect.parts);
    return suspect.gain.value < least_sum ? std::nullopt : std::optional(std::move(suspect));
}

} // namespace libprofile::tools
