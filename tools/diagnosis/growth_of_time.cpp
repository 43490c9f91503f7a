#include "tools/diagnosis/growth_of_time.hpp"

#include "tools/diagnosis/growth_course.hpp"
#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libprofile::tools {

GrowthOfTime::GrowthOfTime(const RunModel& model, const std::vector<const Suspect*>& others) {
    constexpr std::size_t most_parts = 50;
    const std::size_t n = model.iterations(), parts = std::min(most_parts, n / 5);
    std::vector<double> base(model.base().begin(), model.base().end());
    for (const Suspect* suspect : others)
        if (suspect->kind == SuspectKind::AllRanks)
            for (std::size_t i = 0; i < n; ++i) base[i] -= suspect->pattern.excess[i];
    for (std::size_t p = 0; p < parts; ++p) {
        const auto first = base.begin() + static_cast<std::ptrdiff_t>(p * n / parts), end = base.begin() + static_cast<std::ptrdiff_t>((p + 1) * n / parts);
        part_.push_back(quantile(std::vector<double>(first, end), 0.5));
    }
}

GrowthOfTime::Fit GrowthOfTime::fit(std::size_t course) const {
    const double n = static_cast<double>(part_.size());
    std::vector<double> x(part_.size());
    for (std::size_t p = 0; p < x.size(); ++p) x[p] = growth_course(course, p, x.size());
    const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n, mean = std::accumulate(part_.begin(), part_.end(), 0.0) / n;
    double xx = 0, xy = 0, yy = 0, squares = 0, products = 0, before = 0;
    for (std::size_t p = 0; p < x.size(); ++p)
        xx += (x[p] - mean_x) * (x[p] - mean_x), xy += (x[p] - mean_x) * (part_[p] - mean), yy += (part_[p] - mean) * (part_[p] - mean);
    Fit fit{xy / xx, 0, 0, 0};
    for (std::size_t p = 0; p < x.size(); ++p) {
        const double off = part_[p] - mean - fit.slope * (x[p] - mean_x);
        squares += off * off;
        products += off * before;
        before = off;
    }
    squares = std::max(squares, 1e-12 * mean * mean);
    fit.squares = squares;
    // Parts that are alike beside each other say less than their number.
    const double alike = std::clamp(products / squares, 0.0, 0.9), told = n * (1 - alike) / (1 + alike);
    fit.error = std::sqrt(squares / n / xx * n / std::max(1.0, told - 2));
    fit.likelihood = -told / 2 * std::log(squares / std::max(squares, yy));
    return fit;
}

bool GrowthOfTime::is_step() const {
    constexpr double much_nearer = 0.25;
    std::vector<double> sums{0}, squares{0};
    for (const double ns : part_) sums.push_back(sums.back() + ns), squares.push_back(squares.back() + ns * ns);
    const auto off = [&](std::size_t first, std::size_t end) {
        const double sum = sums[end] - sums[first];
        return squares[end] - squares[first] - sum * sum / static_cast<double>(end - first);
    };
    const double level = off(0, part_.size());
    double least = level, nearest = level;
    for (std::size_t cut = 1; cut < part_.size(); ++cut) least = std::min(least, off(0, cut) + off(cut, part_.size()));
    for (std::size_t course = 0; course < growth_courses; ++course) nearest = std::min(nearest, fit(course).squares);
    return least < much_nearer * nearest;
}

double GrowthOfTime::below_all(const std::vector<double>& growth) const {
    const double mean = std::accumulate(part_.begin(), part_.end(), 0.0) / static_cast<double>(part_.size());
    const double mean_growth = std::accumulate(growth.begin(), growth.end(), 0.0) / static_cast<double>(growth.size());
    return std::max(0.0, *std::min_element(part_.begin(), part_.end()) - (mean - mean_growth));
}

} // namespace libprofile::tools
