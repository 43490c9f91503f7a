#include "tools/comparison/interval.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace libprofile::tools {

namespace {

struct Sample {
    double n = 0, mean = 0, variance = 0; // of one value: 0
    double error = 0;                     // of the mean, by samples
};

Sample sample_of(std::span<const RunValue> values) {
    Sample s;
    s.n = static_cast<double>(values.size());
    if (values.empty()) return s;
    double squares = 0;
    for (const RunValue& v : values) {
        s.mean += v.value / s.n;
        squares += v.error * v.error;
    }
    s.error = std::sqrt(squares) / s.n;
    if (values.size() > 1)
        for (const RunValue& v : values) s.variance += (v.value - s.mean) * (v.value - s.mean) / (s.n - 1);
    return s;
}

/// Half of the 95 % interval by the spread of repetitions; 0 if there are none.
double error_by_repetitions(const Sample& a, const Sample& b) {
    if (a.n > 1 && b.n > 1) {
        const double of_a = a.variance / a.n, of_b = b.variance / b.n, all = of_a + of_b;
        if (all == 0) return 0;
        const double degrees = all * all / (of_a * of_a / (a.n - 1) + of_b * of_b / (b.n - 1));
        return student_t(degrees) * std::sqrt(all);
    }
    const Sample& many = a.n > 1 ? a : b;
    if (many.n < 2) return 0;
    return student_t(many.n - 1) * std::sqrt(many.variance * (1 / a.n + 1 / b.n));
}

} // namespace

double student_t(double degrees) {
    // Between the points of the table t is nearly a straight line over 1 / degrees.
    struct Point {
        double degrees, t;
    };
    constexpr Point points[] = {{1, 12.7062},  {1.25, 8.0280}, {1.5, 6.0167}, {1.75, 4.9488}, {2, 4.3027},  {2.5, 3.5747}, {3, 3.1824},
                                {3.5, 2.9401}, {4, 2.7764},    {5, 2.5706},   {6, 2.4469},    {7, 2.3646},  {8, 2.3060},   {10, 2.2281},
                                {12, 2.1788},  {15, 2.1314},   {20, 2.0860},  {30, 2.0423},   {60, 2.0003}, {120, 1.9799}};
    constexpr double infinite = 1.959964;
    if (!(degrees > 1)) return points[0].t;
    const auto* const next = std::find_if(std::begin(points), std::end(points), [&](const Point& p) { return p.degrees >= degrees; });
    const double right = next == std::end(points) ? 0 : 1 / next->degrees, t_right = next == std::end(points) ? infinite : next->t;
    const Point& left = *(next - 1);
    const double share = (1 / degrees - right) / (1 / left.degrees - right);
    return t_right + share * (left.t - t_right);
}

Change change_between(std::span<const RunValue> before, std::span<const RunValue> after) {
    const Sample a = sample_of(before), b = sample_of(after);
    const double by_samples = std::sqrt(a.error * a.error + b.error * b.error);
    const double by_repetitions = error_by_repetitions(a, b);
    const bool is_unknown = std::isnan(by_samples) && by_repetitions == 0;
    return {a.mean, b.mean, is_unknown ? by_samples : std::fmax(by_samples, by_repetitions)}; // fmax: a NaN does not count
}

double spread_of_runs(std::span<const RunValue> values) {
    if (values.empty()) return 0;
    const auto [least, most] = std::minmax_element(values.begin(), values.end(), [](const RunValue& a, const RunValue& b) { return a.value < b.value; });
    return most->value - least->value;
}

} // namespace libprofile::tools
