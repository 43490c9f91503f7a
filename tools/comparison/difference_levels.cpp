#include "tools/comparison/difference_levels.hpp"

#include "tools/comparison/interval.hpp"
#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace libprofile::tools {

namespace {

constexpr std::size_t smoothed = 5;     // what is shorter than half of it is no level
constexpr double least_share = 0.002;   // of the time of all iterations: what sums up to less is not told
constexpr std::size_t resamples = 400;  // for an interval
constexpr std::size_t usual_block = 25; // iterations: longer than the periods at which programs write or balance, mostly

double mean_of(std::span<const float> values) { return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()); }

using Cuts = std::vector<std::size_t>; // first values of levels, but for that at 0

/// What changes in every iteration.
Cuts cuts_of_medians(std::span<const float> differences, double least) {
    Cuts cuts;
    for (const Level& level : levels_of(running_median(differences, smoothed), smoothed, least))
        if (level.first != 0) cuts.push_back(level.first);
    return cuts;
}

/// What changes now and then, as output in every tenth iteration: a median over neighbours does not show that, means of blocks do.
Cuts cuts_of_means(std::span<const float> differences, double least) {
    const std::size_t n = differences.size(), block = std::clamp<std::size_t>(n / 100, 10, usual_block), blocks = n / block;
    if (blocks < 2 * smoothed) return {};
    std::vector<float> means;
    for (std::size_t b = 0; b < blocks; ++b)
        means.push_back(static_cast<float>(mean_of(differences.subspan(b * block, b + 1 == blocks ? n - b * block : block))));
    std::vector<double> sums(n + 1);
    for (std::size_t i = 0; i < n; ++i) sums[i + 1] = sums[i] + differences[i];
    Cuts cuts;
    const std::vector<Level> levels = levels_of(running_median(means, smoothed), smoothed, least);
    for (std::size_t l = 1; l < levels.size(); ++l) {
        // Between which two iterations: where it separates the means best.
        const std::size_t first = levels[l - 1].first * block, end = levels[l].last + 1 == blocks ? n : (levels[l].last + 1) * block;
        const std::size_t near = levels[l].first * block;
        double best = -1;
        std::size_t at = near;
        for (std::size_t k = std::max(first + 1, near - 2 * block); k < std::min(end, near + 2 * block); ++k) {
            const double a = static_cast<double>(k - first), b = static_cast<double>(end - k);
            const double score = std::abs((sums[k] - sums[first]) / a - (sums[end] - sums[k]) / b) * std::sqrt(a * b);
            if (score > best) best = score, at = k;
        }
        cuts.push_back(at);
    }
    return cuts;
}

/// Half of the 95 % interval of a mean, with blocks of one length.
double error_with_blocks(std::span<const float> values, std::size_t block) {
    const std::size_t n = values.size();
    std::vector<double> sums(n + 1);
    for (std::size_t i = 0; i < n; ++i) sums[i + 1] = sums[i] + values[i];
    std::minstd_rand random(1);
    std::vector<double> means(resamples);
    for (double& mean : means) {
        for (std::size_t left = n; left != 0;) {
            const std::size_t length = std::min(block, left), at = random() % (n - length + 1);
            mean += sums[at + length] - sums[at];
            left -= length;
        }
        mean /= static_cast<double>(n);
    }
    std::sort(means.begin(), means.end());
    // Of few blocks the spread is known badly: as wide as Student's distribution is beside the normal one.
    const double blocks = static_cast<double>(n) / static_cast<double>(block);
    return (means[resamples * 39 / 40] - means[resamples / 40]) / 2 * student_t(std::max(1.0, blocks - 1)) / 1.96;
}

class Levels {
  public:
    Levels(std::span<const float> differences, double typical, double least_change)
        : differences_(differences), least_(least_change * typical), least_sum_(least_share * typical * static_cast<double>(differences.size())) {}

    DifferenceLevel judged(std::size_t first, std::size_t last) const {
        const std::span<const float> part = differences_.subspan(first, last - first + 1);
        DifferenceLevel level{first, last, mean_of(part), error_of_mean(part)};
        level.is_change = std::abs(level.mean) > std::max(level.error, least_) && std::abs(level.mean) * static_cast<double>(level.length()) >= least_sum_;
        return level;
    }

    /// Joins neighbours that are no change.
    void join_unchanged(std::vector<DifferenceLevel>& levels) const {
        for (std::size_t i = 1; i < levels.size();) {
            if (levels[i].is_change || levels[i - 1].is_change)
                ++i;
            else
                join(levels, i);
        }
    }

    /// Joins changes of one sign that follow each other, the most alike first: those that hardly differ, and others while there are too many.
    void join_changes(std::vector<DifferenceLevel>& levels, std::size_t most) const {
        while (true) {
            std::size_t best = 0;
            double nearest = INFINITY;
            for (std::size_t i = 1; i < levels.size(); ++i) {
                const DifferenceLevel &a = levels[i - 1], &b = levels[i];
                if (!a.is_change || !b.is_change || (a.mean > 0) != (b.mean > 0)) continue;
                if (const double apart = std::abs(a.mean - b.mean) - a.error - b.error; apart < nearest) nearest = apart, best = i;
            }
            const auto changes = std::count_if(levels.begin(), levels.end(), [](const DifferenceLevel& l) { return l.is_change; });
            if (best == 0 || (nearest > least_ && static_cast<std::size_t>(changes) <= most)) return;
            join(levels, best);
        }
    }

  private:
    /// The one at `at` and the one before become one.
    void join(std::vector<DifferenceLevel>& levels, std::size_t at) const {
        levels[at - 1] = judged(levels[at - 1].first, levels[at].last);
        levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(at));
    }

    std::span<const float> differences_;
    double least_, least_sum_;
};

} // namespace

double error_of_mean(std::span<const float> differences) {
    const std::size_t n = differences.size();
    if (n < 2) return std::numeric_limits<double>::quiet_NaN();
    const auto usual = std::max(usual_block, static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(n)))));
    double most = 0;
    for (const std::size_t length : {usual * 2 / 3, usual, usual * 3 / 2})
        most = std::max(most, error_with_blocks(differences, std::clamp<std::size_t>(length, 1, std::max<std::size_t>(1, n / 8))));
    return most;
}

std::vector<DifferenceLevel> difference_levels(std::span<const float> differences, double typical, double least_change, std::size_t most_changes) {
    const Levels levels(differences, typical, least_change);
    std::vector<DifferenceLevel> result;
    Cuts cuts = cuts_of_medians(differences, least_change * typical);
    std::size_t first = 0;
    const Cuts medians = cuts;
    for (std::size_t c = 0; c <= medians.size(); ++c) {
        const std::size_t end = c < medians.size() ? medians[c] : differences.size();
        for (const std::size_t cut : cuts_of_means(differences.subspan(first, end - first), least_change * typical)) cuts.push_back(first + cut);
        first = end;
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.push_back(differences.size());
    first = 0;
    for (const std::size_t cut : cuts) {
        if (cut > first) result.push_back(levels.judged(first, cut - 1));
        first = cut;
    }
    levels.join_unchanged(result);
    levels.join_changes(result, most_changes);
    return result;
}

} // namespace libprofile::tools
