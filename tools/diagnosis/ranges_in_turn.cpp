#include "tools/diagnosis/ranges_in_turn.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/diagnosis/levels.hpp"
#include "tools/diagnosis/turn_period.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

constexpr std::size_t fewest_ranks = 3; // of two ranks each has half of it
constexpr std::size_t fewest_iterations = 50;
constexpr std::size_t smoothed = 5;   // values of a running median
constexpr double least_change = 0.01; // of a typical iteration
constexpr double covered = 0.6;       // of the iterations have a rank whose turn it is
constexpr double alone = 0.9;         // of the turns are of one rank at a time
constexpr double most_of_run = 0.5;   // what a rank has for longer is no turn

/// What a rank has above its low level, in its turns; empty if it has no turns.
std::vector<float> turns_of(const RunModel& model, std::size_t rank) {
    const std::size_t n = model.iterations();
    std::vector<float> excess(n);
    for (std::size_t i = 0; i < n; ++i) excess[i] = model.local(rank, i) - model.base()[i];
    const std::vector<Level> levels = levels_of(running_median(excess, smoothed), smoothed, 0); // parts with turns may have means alike
    const auto [least, most] = std::minmax_element(levels.begin(), levels.end(), [](const Level& a, const Level& b) { return a.mean < b.mean; });
    const double low = least->mean, middle = (low + most->mean) / 2;
    std::vector<float> turns(n);
    std::size_t length = 0;
    for (const Level& level : levels) {
        if (level.mean <= middle) continue;
        length += level.length();
        for (std::size_t i = level.first; i <= level.last; ++i) turns[i] = std::max(0.0f, static_cast<float>(excess[i] - low));
    }
    const bool is_change = most->mean - low >= least_change * model.typical();
    return !is_change || static_cast<double>(length) > most_of_run * static_cast<double>(n) ? std::vector<float>() : turns;
}

} // namespace

std::optional<Suspect> ranges_in_turn(const RunModel& model) {
    const std::size_t n = model.iterations(), ranks = model.ranks();
    if (n < fewest_iterations || ranks < fewest_ranks) return std::nullopt;
    std::vector<std::vector<float>> turns(ranks);
    in_parallel(ranks, [&](std::size_t r) { turns[r] = turns_of(model, r); });
    Suspect suspect;
    suspect.kind = SuspectKind::MovingRank;
    suspect.pattern.excess.resize(n);
    std::vector<std::size_t> longest(n);
    double cells = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        if (turns[r].empty()) continue;
        for (std::size_t i = 0; i < n; ++i) {
            cells += turns[r][i] > 0 ? 1 : 0;
            if (turns[r][i] <= suspect.pattern.excess[i]) continue;
            suspect.pattern.excess[i] = turns[r][i];
            longest[i] = r;
        }
        suspect.parts.push_back({r, std::move(turns[r])});
        suspect.rows.push_back(r);
    }
    const auto iterations = static_cast<double>(suspect.pattern.iterations());
    if (suspect.rows.size() * 2 <= ranks || iterations < covered * static_cast<double>(n) || iterations < alone * cells) return std::nullopt;
    for (const float ns : suspect.pattern.excess) suspect.pattern.sum += ns;
    suspect.pattern.period = turn_period(longest, ranks);
    suspect.gain = model.gain_without(suspect.parts);
    return suspect;
}

} // namespace libprofile::tools
