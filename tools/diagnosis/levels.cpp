#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

class Cutter {
  public:
    Cutter(const std::vector<double>& smooth, std::size_t width, double least_step) : width_(width), least_step_(least_step), sums_(smooth.size() + 1) {
        for (std::size_t i = 0; i < smooth.size(); ++i) sums_[i + 1] = sums_[i] + smooth[i];
        std::vector<double> steps;
        for (std::size_t i = width; i < smooth.size(); ++i) steps.push_back(std::abs(smooth[i] - smooth[i - width]));
        // The median of |a - b| is 0.954 deviations of a normal distribution.
        deviation_ = steps.empty() ? 0 : median_of(steps) / 0.954;
        // What a running median leaves of noise is alike over its width.
        const double n = static_cast<double>(smooth.size());
        significant_ = std::sqrt(static_cast<double>(width)) * (std::sqrt(2 * std::log(std::max(n, 2.0))) + 1);
    }

    void cut(std::size_t first, std::size_t end, std::vector<Level>& to) const {
        const std::size_t n = end - first, least = std::max<std::size_t>(width_ / 2 + 1, n / 500);
        double best = 0;
        std::size_t at = 0;
        for (std::size_t k = first + least; k + least <= end; ++k) {
            const double a = static_cast<double>(k - first), b = static_cast<double>(end - k);
            const double score = std::abs(mean(first, k) - mean(k, end)) * std::sqrt(a * b / static_cast<double>(n));
            if (score > best) best = score, at = k;
        }
        const bool is_change = at != 0 && std::abs(mean(first, at) - mean(at, end)) >= least_step_ && best > significant_ * deviation_;
        if (!is_change || to.size() >= most_levels) {
            to.push_back({first, end - 1, mean(first, end)});
            return;
        }
        cut(first, at, to);
        cut(at, end, to);
    }

  private:
    static constexpr std::size_t most_levels = 200; // more are no levels
    double mean(std::size_t first, std::size_t end) const { return (sums_[end] - sums_[first]) / static_cast<double>(end - first); }

    std::size_t width_;
    double least_step_;
    std::vector<double> sums_;
    double deviation_ = 0;
    double significant_ = 0;
};

} // namespace

std::vector<double> running_median(std::span<const float> values, std::size_t width) {
    std::vector<double> smooth(values.size()), window;
    const std::size_t half = width / 2;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t first = i < half ? 0 : i - half, end = std::min(values.size(), i + half + 1);
        window.assign(values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(end));
        smooth[i] = median_of(window);
    }
    return smooth;
}

double robust_deviation(std::vector<double> values) {
    if (values.empty()) return 0;
    std::vector<double> copy = values;
    const double middle = median_of(copy);
    for (double& value : values) value = std::abs(value - middle);
    return 1.4826 * median_of(values);
}

std::vector<Level> levels_of(const std::vector<double>& smooth, std::size_t width, double least_step) {
    std::vector<Level> levels;
    if (smooth.empty()) return levels;
    Cutter(smooth, width, least_step).cut(0, smooth.size(), levels);
    return levels;
}

} // namespace libprofile::tools
