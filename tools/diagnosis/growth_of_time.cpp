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
    Fit fit{xy / xx, 0, 0};
    for (std::size_t p = 0; p < x.size(); ++p) {
        const double off = part_[p] - mean - fit.slope * (x[p] - mean_x);
        squares += off * off;
        products += off * before;
        before = off;
    }
    squares = std::max(squares, 1e-12 * mean * mean);
    // Parts that are alike beside each other say less than their number.
    const double alike = std::clamp(products / squares, 0.0, 0.9), told = n * (1 - alike) / (1 + alike);
    fit.error = std::sqrt(squares / n / xx * n / std::max(1.0, told - 2));
    fit.likelihood = -told / 2 * std::log(squares / std::max(squares, yy));
    return fit;
}

} // namespace libprofile::tools
