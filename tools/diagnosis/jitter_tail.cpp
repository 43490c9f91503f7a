#include "tools/diagnosis/jitter_tail.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libprofile::tools {

namespace {

constexpr double begin_of_tail = 0.2; // share of the values
constexpr double false_share = 0.05;  // of what is told to be no jitter

struct Scale {
    float low = 0, unit = 1;
};

Scale scale_of(std::size_t rank, std::size_t iterations, const std::function<float(std::size_t, std::size_t)>& value) {
    constexpr std::size_t enough = 1000; // values
    const std::size_t step = std::max<std::size_t>(1, iterations / enough);
    std::vector<float> values;
    for (std::size_t i = 0; i < iterations; i += step) values.push_back(value(rank, i));
    const float low = quantile(values, 1 - begin_of_tail), high = quantile(std::move(values), 0.95);
    return {low, std::max(1.0f, (high - low) / std::log(4.0f))};
}

/// Of values that are at least 0; `all` is how many there are with the smaller ones.
class Tail {
  public:
    Tail(std::vector<float>& values, double all, double trimmed) : all_(all), share_(trimmed) {
        const double step = std::sqrt(begin_of_tail / trimmed);
        const double first = at(values, begin_of_tail), middle = at(values, begin_of_tail / step);
        last_ = at(values, trimmed);
        const double ratio = middle > first ? (last_ - middle) / (middle - first) : 1;
        // Few values tell the shape with an error: of two differences of quantiles, in the scale of log(step).
        const double error = std::sqrt((1 + 1 / step) / (trimmed * all)) / std::log(step);
        shape_ = std::clamp(std::log(std::max(ratio, 1e-3)) / std::log(step) + error, 0.0, 1.0);
        // The width of the tail beyond `last_`: of an exponential one, or of one that widens.
        width_ = std::max(1e-6, shape_ < 0.01 ? (last_ - middle) / std::log(step) : shape_ * (last_ - middle) / (1 - std::pow(step, -shape_)));
    }
    double last() const { return last_; }
    /// How many of all values are above by chance; from last() on.
    double expected(double value) const {
        const double x = (value - last_) / width_;
        return all_ * share_ * (shape_ < 0.01 ? std::exp(-x) : std::pow(1 + shape_ * x, -1 / shape_));
    }

  private:
    double at(std::vector<float>& values, double share) const {
        const auto from_top = std::min(values.size() - 1, static_cast<std::size_t>(share * all_));
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(from_top), values.end(), std::greater<>());
        return values[from_top];
    }

    double all_, share_, last_ = 0, shape_ = 0, width_ = 1;
};

} // namespace

std::vector<float> highest_by_jitter(std::size_t ranks, std::size_t iterations, const std::function<float(std::size_t, std::size_t)>& value) {
    constexpr float never = std::numeric_limits<float>::infinity();
    std::vector<float> borders(ranks, never);
    std::vector<Scale> scales(ranks);
    std::vector<std::vector<float>> tails(ranks);
    in_parallel(ranks, [&](std::size_t r) {
        const Scale scale = scales[r] = scale_of(r, iterations, value);
        for (std::size_t i = 0; i < iterations; ++i)
            if (const float z = (value(r, i) - scale.low) / scale.unit; z >= 0) tails[r].push_back(z);
    });
    std::vector<float> values;
    for (const std::vector<float>& tail : tails) values.insert(values.end(), tail.begin(), tail.end());
    if (values.empty()) return borders;
    // What is no jitter may be in a tenth of the iterations, on one rank each.
    const double all = static_cast<double>(ranks * iterations);
    Tail tail(values, all, std::clamp(0.1 / static_cast<double>(ranks), std::min(0.05, 50 / all), 0.05));
    std::erase_if(values, [&](float z) { return z <= tail.last(); });
    std::sort(values.begin(), values.end(), std::greater<>());
    double border = never;
    for (std::size_t k = 0; k < values.size(); ++k)
        if (tail.expected(values[k]) <= false_share * static_cast<double>(k + 1)) border = values[k];
    for (std::size_t r = 0; r < ranks; ++r) borders[r] = static_cast<float>(scales[r].low + scales[r].unit * border);
    return borders;
}

} // namespace libprofile::tools
