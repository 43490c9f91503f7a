#include "tools/diagnosis/jitter_tail.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace libprofile::tools {

namespace {

constexpr double upper_part = 0.2;            // of a rank's values: its scale
constexpr double false_share = 0.05;          // of what is told to be no jitter
constexpr double one_deviation = 0.5;         // of a logarithm of likelihood
constexpr double most_above_largest = 3;      // expected above the largest value of all, in one of twenty cases: it is exponentially distributed about 1
constexpr double trimmed_part = 10;           // the tail begins where so many times as many values are above as are left out of it
constexpr std::size_t fewest_beside_gap = 20; // values
constexpr double rare = 0.2;                  // of the iterations of a usual rank are above a gap: else that is how the program runs
constexpr float never = std::numeric_limits<float>::infinity();

struct Scale {
    float low = 0, unit = 1;
};

Scale scale_of(std::size_t rank, std::size_t iterations, const std::function<float(std::size_t, std::size_t)>& value) {
    constexpr std::size_t enough = 1000; // values
    const std::size_t step = std::max<std::size_t>(1, iterations / enough);
    std::vector<float> values;
    for (std::size_t i = 0; i < iterations; i += step) values.push_back(value(rank, i));
    const float low = quantile(values, 1 - upper_part), high = quantile(std::move(values), 0.95);
    return {low, std::max(1.0f, (high - low) / std::log(4.0f))};
}

/// The tail of the largest values without the very largest ones: a generalised Pareto distribution by maximum likelihood. Which
/// shape it has is open.
/// Source: J. Pickands, "Statistical Inference Using Extreme Order Statistics", Annals of Statistics 3 (1975); the likelihood with one parameter: S. D.
/// Grimshaw, "Computing Maximum Likelihood Estimates for the Generalized Pareto Distribution", Technometrics 35 (1993).
class Tail {
  public:
    /// @param values the largest first; the last is where the tail begins
    explicit Tail(const std::vector<float>& values) : low_(values.back()), size_(values.size() - 1) {
        std::vector<double> sums(size_ + 1);
        for (std::size_t k = size_; k-- > 0;) sums[k] = sums[k + 1] + (values[k] - low_);
        if (sums[0] <= 0) return;
        const double mean = sums[0] / static_cast<double>(size_);
        fits_.push_back({0, std::move(sums)});
        std::vector<double> bends;
        for (double bend = 1e-3; bend < 1e3; bend *= 1.1) bends.push_back(bend / mean);
        for (double end = 1; end < 1e3; end *= 1.1) bends.push_back(-1 / (end * mean));
        for (const double bend : bends) {
            sums.assign(size_ + 1, 0);
            for (std::size_t k = size_; k-- > 0;) {
                const double y = values[k] - low_;
                sums[k] = sums[k + 1] + (1 + bend * y > 0 ? std::log1p(bend * y) : -std::numeric_limits<double>::infinity());
            }
            fits_.push_back({bend, sums});
        }
    }
    /// How many as large as `value` or larger jitter has by chance, if the largest `without` values are none: by the heaviest shape that is as likely as the
    /// best of those without an end.
    double most_expected(double value, std::size_t without) const {
        double best = never_likely, heaviest = 0;
        for (const Fit& fit : fits_)
            if (fit.bend >= 0) best = std::max(best, likelihood(fit, without));
        for (const Fit& fit : fits_)
            if (fit.bend >= 0 && likelihood(fit, without) >= best - one_deviation) heaviest = std::max(heaviest, above(fit, value, without));
        return fits_.empty() ? std::numeric_limits<double>::infinity() : heaviest; // all are equal
    }
    /// By the best shape; the tail may have an end.
    double expected(double value, std::size_t without) const {
        double best = never_likely, found = 0;
        for (const Fit& fit : fits_)
            if (const double mine = likelihood(fit, without); mine > best) best = mine, found = above(fit, value, without);
        return found;
    }

  private:
    static constexpr double never_likely = -std::numeric_limits<double>::infinity();
    /// Of a shape in proportion to `bend`; 0: exponential.
    struct Fit {
        double bend;
        std::vector<double> sums; // from each value on
    };
    double number(std::size_t without) const { return static_cast<double>(size_ - without); }
    double shape(const Fit& fit, std::size_t without) const { return fit.sums[without] / number(without); }
    double likelihood(const Fit& fit, std::size_t without) const {
        constexpr double least_shape = -0.5; // the likelihood of less has no largest value
        if (fit.bend < 0 && !(shape(fit, without) > least_shape)) return never_likely;
        return -number(without) * std::log(shape(fit, without) / (fit.bend == 0 ? 1 : fit.bend)) - (fit.bend == 0 ? 0 : fit.sums[without]);
    }
    /// How many are above.
    double above(const Fit& fit, double value, std::size_t without) const {
        const double y = value - low_;
        return number(without) * std::exp(-(fit.bend == 0 ? y : std::log1p(fit.bend * y)) / shape(fit, without));
    }

    double low_;
    std::size_t size_;
    std::vector<Fit> fits_;
};

/// Above which values are no jitter; infinity if none is.
/// @param values of all ranks, in their scales, from 0 on
/// @param all how many there are with those below 0
float border_by_tail(std::vector<float> values, double all, std::size_t ranks) {
    // What is no jitter may be in a tenth of the iterations, on one rank each.
    const double trimmed = all * std::clamp(0.1 / static_cast<double>(ranks), std::min(0.05, 50 / all), 0.05);
    const auto begin = std::min({values.size() - 1, static_cast<std::size_t>(trimmed_part * trimmed), static_cast<std::size_t>(upper_part * all)});
    std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(begin + 1), values.end(), std::greater<>());
    values.resize(begin + 1);
    const Tail tail(values);
    // The most that jitter without them does not explain; but the largest that is left has to be one that jitter may have, or some were taken from it.
    // Source: B. Rosner, "Percentage Points for a Generalized ESD Many-Outlier Procedure", Technometrics 25 (1983).
    std::size_t most = std::min(begin / 2, static_cast<std::size_t>(trimmed));
    const auto is_too_many = [&](std::size_t k) {
        return tail.most_expected(values[k - 1], k) > false_share * static_cast<double>(k) || tail.expected(values[k], k) > most_above_largest;
    };
    while (most > 0 && is_too_many(most)) --most;
    return most == 0 ? never : values[most - 1];
}

/// How many values lie in each part of a doubling, and the least of them.
class DoublingCounts {
  public:
    void add(float value) {
        if (value <= 0) return;
        const auto at = static_cast<std::size_t>(std::clamp(std::log2(value) * steps, 0.0f, static_cast<float>(parts - 1)));
        ++counts_[at];
        least_[at] = std::min(least_[at], value);
    }
    void add(const DoublingCounts& more) {
        for (std::size_t at = 0; at < parts; ++at) counts_[at] += more.counts_[at], least_[at] = std::min(least_[at], more.least_[at]);
    }
    /// The least value above a gap of a doubling: no tail has one between many values and many others. Infinity if there is no gap.
    float above_gap() const {
        const std::size_t all = std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
        std::size_t above = 0, empty = 0;
        float border = never;
        for (std::size_t at = parts; at-- > 0 && above + fewest_beside_gap <= all;) {
            if (counts_[at] == 0) {
                ++empty;
                continue;
            }
            if (above >= fewest_beside_gap && empty >= steps) return border;
            empty = 0;
            above += counts_[at];
            border = least_[at];
        }
        return never;
    }
    std::size_t from(float value) const {
        std::size_t above = 0;
        for (std::size_t at = parts; at-- > 0 && least_[at] >= value;) above += counts_[at];
        return above;
    }

  private:
    static constexpr std::size_t steps = 10, parts = 60 * steps;
    std::vector<std::size_t> counts_ = std::vector<std::size_t>(parts);
    std::vector<float> least_ = std::vector<float>(parts, never);
};

} // namespace

std::vector<float> highest_by_jitter(std::size_t ranks, std::size_t iterations, const std::function<float(std::size_t, std::size_t)>& value) {
    std::vector<float> borders(ranks, never);
    std::vector<Scale> scales(ranks);
    std::vector<std::vector<float>> tails(ranks);
    std::vector<DoublingCounts> counts_of(ranks);
    in_parallel(ranks, [&](std::size_t r) {
        const Scale scale = scales[r] = scale_of(r, iterations, value);
        for (std::size_t i = 0; i < iterations; ++i) {
            const float x = value(r, i), z = (x - scale.low) / scale.unit;
            if (z >= 0) tails[r].push_back(z);
            counts_of[r].add(x);
        }
    });
    std::vector<float> values;
    DoublingCounts counts;
    for (const std::vector<float>& tail : tails) values.insert(values.end(), tail.begin(), tail.end());
    for (const DoublingCounts& of_rank : counts_of) counts.add(of_rank);
    if (values.empty()) return borders;
    const float border = border_by_tail(std::move(values), static_cast<double>(ranks * iterations), ranks);
    float above_gap = counts.above_gap();
    std::vector<std::size_t> above;
    for (const DoublingCounts& of_rank : counts_of) above.push_back(of_rank.from(above_gap));
    if (static_cast<double>(quantile(std::move(above), 0.5)) > rare * static_cast<double>(iterations)) above_gap = never;
    for (std::size_t r = 0; r < ranks; ++r)
        borders[r] = std::min(above_gap, border == never ? never : static_cast<float>(scales[r].low + scales[r].unit * border));
    return borders;
}

} // namespace libprofile::tools
