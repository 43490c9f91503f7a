#include "tools/analysis/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace libprofile::tools {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct Pairs {
    std::vector<double> x, y;

    Pairs(std::span<const double> all_x, std::span<const double> all_y) {
        for (std::size_t i = 0; i < std::min(all_x.size(), all_y.size()); ++i)
            if (!std::isnan(all_x[i]) && !std::isnan(all_y[i])) {
                x.push_back(all_x[i]);
                y.push_back(all_y[i]);
            }
    }
    std::size_t size() const { return x.size(); }
};

double mean(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()); }

struct Products {
    double xx = 0, xy = 0, yy = 0, mean_x = 0, mean_y = 0;

    explicit Products(const Pairs& pairs) : mean_x(mean(pairs.x)), mean_y(mean(pairs.y)) {
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const double dx = pairs.x[i] - mean_x, dy = pairs.y[i] - mean_y;
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
    }
};

double pearson(const Pairs& pairs) {
    if (pairs.size() < 2) return unknown;
    const Products p(pairs);
    return p.xx == 0 || p.yy == 0 ? unknown : std::clamp(p.xy / std::sqrt(p.xx) / std::sqrt(p.yy), -1.0, 1.0);
}

std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> result(values.size());
    for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
        while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
        for (std::size_t i = first; i < last; ++i) result[order[i]] = static_cast<double>(first + last - 1) / 2;
    }
    return result;
}

/// Pairs of equal ones among neighbours.
template <class Equal> double ties(std::size_t count, Equal equal) {
    double pairs = 0, run = 1;
    for (std::size_t i = 1; i < count; ++i)
        if (equal(i - 1, i))
            pairs += run++;
        else
            run = 1;
    return pairs;
}

/// Sorts, and counts the exchanges of neighbours that a bubble sort would need.
double count_exchanges(std::vector<double>& values, std::vector<double>& space, std::size_t first, std::size_t last) {
    if (last - first < 2) return 0;
    const std::size_t middle = first + (last - first) / 2;
    double exchanges = count_exchanges(values, space, first, middle) + count_exchanges(values, space, middle, last);
    std::size_t left = first, right = middle;
    for (std::size_t to = first; to < last; ++to) {
        const bool take_right = left == middle || (right < last && values[right] < values[left]);
        if (take_right) exchanges += static_cast<double>(middle - left);
        space[to] = values[take_right ? right++ : left++];
    }
    std::copy(space.begin() + static_cast<std::ptrdiff_t>(first), space.begin() + static_cast<std::ptrdiff_t>(last),
              values.begin() + static_cast<std::ptrdiff_t>(first));
    return exchanges;
}

} // namespace

double pearson(std::span<const double> x, std::span<const double> y) { return pearson(Pairs(x, y)); }

double spearman(std::span<const double> x, std::span<const double> y) {
    Pairs pairs(x, y);
    pairs.x = ranks(pairs.x);
    pairs.y = ranks(pairs.y);
    return pearson(pairs);
}

double kendall(std::span<const double> x, std::span<const double> y) {
    const Pairs pairs(x, y);
    const std::size_t n = pairs.size();
    if (n < 2) return unknown;
    std::vector<std::pair<double, double>> sorted(n);
    for (std::size_t i = 0; i < n; ++i) sorted[i] = {pairs.x[i], pairs.y[i]};
    std::sort(sorted.begin(), sorted.end());
    const double tied_x = ties(n, [&](std::size_t a, std::size_t b) { return sorted[a].first == sorted[b].first; });
    const double tied_both = ties(n, [&](std::size_t a, std::size_t b) { return sorted[a] == sorted[b]; });
    std::vector<double> values(n), space(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = sorted[i].second;
    const double exchanges = count_exchanges(values, space, 0, n);
    const double tied_y = ties(n, [&](std::size_t a, std::size_t b) { return values[a] == values[b]; });
    const double all = static_cast<double>(n) * static_cast<double>(n - 1) / 2;
    if (all == tied_x || all == tied_y) return unknown;
    return (all - tied_x - tied_y + tied_both - 2 * exchanges) / std::sqrt(all - tied_x) / std::sqrt(all - tied_y);
}

FittedLine regression(std::span<const double> x, std::span<const double> y) {
    const Pairs pairs(x, y);
    if (pairs.size() < 2) return {unknown, unknown, unknown};
    const Products p(pairs);
    if (p.xx == 0) return {unknown, unknown, unknown};
    const double slope = p.xy / p.xx;
    const double left_over = std::max(0.0, p.yy - slope * p.xy), free = static_cast<double>(pairs.size()) - 2;
    return {slope, p.mean_y - slope * p.mean_x, free > 0 ? std::sqrt(left_over / free / p.xx) : unknown};
}

} // namespace libprofile::tools
