#include "tools/diagnosis/growing_function.hpp"

#include "tools/diagnosis/growth_of_samples.hpp"
#include "tools/diagnosis/growth_of_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr std::size_t fewest_to_grow = 50; // iterations
constexpr double beyond_doubt = 9;         // square of deviations, by time and by the function
constexpr double least_by_function = 2;    // of it
constexpr double most_deviations = 3;      // that time and function say another thing
constexpr double most_against = 2;         // of time: where one function grows by much, all others have less and less of the samples

bool is_growth(const Suspect& suspect) {
    return suspect.kind == SuspectKind::AllRanks && (suspect.pattern.kind == PatternKind::Growing || suspect.pattern.kind == PatternKind::Shrinking);
}

} // namespace

void grow_by_function(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names, double least_sum, std::vector<Suspect>& found) {
    const std::size_t n = matrix.iterations();
    if (matrix.is_whole_run || n < fewest_to_grow || matrix.ranks() == 0) return;
    std::vector<const Suspect*> others;
    for (const Suspect& suspect : found)
        if (!is_growth(suspect) && suspect.kind != SuspectKind::Communication) others.push_back(&suspect);
    const GrowthOfSamples search(profile, matrix, names, others);
    const RunModel model(matrix);
    const GrowthOfTime time(model, others);
    std::array<GrowthOfSamples::Fit, growth_courses> growths;
    std::size_t best = 0;
    for (std::size_t c = 0; c < growth_courses; ++c) {
        if (const GrowthOfTime::Fit fit = time.fit(c); fit.slope < -most_against * fit.error) continue;
        growths[c] = search.best(c);
        if (growths[c].certain() > growths[best].certain()) best = c;
    }
    const GrowthOfSamples::Fit& told = growths[best];
    const GrowthOfTime::Fit by_time = time.fit(best);
    // The function is the best of many; and it may grow while others shrink.
    const double by_function = told.certain() * told.certain() - 2 * std::log(static_cast<double>(search.functions()));
    const double in_all = by_function + std::pow(by_time.slope / by_time.error, 2);
    if (told.node == 0 || by_function < least_by_function || in_all < beyond_doubt || by_time.slope <= 0 || time.is_step()) return;
    const double rise = told.slope / (1 - told.share), off = std::hypot(told.error / (1 - told.share), by_time.error);
    if (std::abs(rise - by_time.slope) > most_deviations * off) return;
    // How much by time and how much by the function, weighted by how exact they are. Which way it bends may be open: the mean, weighted by how likely
    // each is.
    double weights = 0, most = 0, inverse = 0;
    std::vector<double> excess(n);
    const double scatter = told.error / std::max(1e-300, search.of(told.node, best).error);
    const double likeliest = told.certain() * told.certain() / 2 + by_time.likelihood;
    std::array<double, courses_of_growth> weight{};
    for (std::size_t s = 0; s < courses_of_growth; ++s) {
        const std::size_t c = best / courses_of_growth * courses_of_growth + s;
        const GrowthOfSamples::Fit one = search.of(told.node, c);
        const GrowthOfTime::Fit fit = time.fit(c);
        if (one.node == 0 || one.share >= 1) continue;
        const double error = one.error * scatter / (1 - one.share), certain = one.slope / (one.error * scatter);
        const double exact = 1 / (error * error), exact_time = 1 / (fit.error * fit.error);
        const double most_of_one = std::max(0.0, (one.slope / (1 - one.share) * exact + fit.slope * exact_time) / (exact + exact_time));
        weight[s] =
            (s == 0 ? simpler_growth : 1) * std::exp(std::clamp(certain * certain / 2 * (certain > 0 ? 1 : 0) + fit.likelihood - likeliest, -300.0, 300.0));
        weights += weight[s];
        inverse += weight[s] / std::sqrt(exact + exact_time);
        for (std::size_t i = 0; i < n; ++i) excess[i] += weight[s] * most_of_one * growth_course(c, i, n);
    }
    for (double& ns : excess) ns /= weights;
    const double below_all = time.below_all(excess);
    for (double& ns : excess) most = std::max(most, ns = std::max(0.0, ns - below_all));
    if (most <= 0) return;
    const double begin = growth_begins(weight);
    Suspect suspect{SuspectKind::AllRanks, {}, {}, {}, {}};
    suspect.pattern.kind = best < courses_of_growth ? PatternKind::Growing : PatternKind::Shrinking;
    suspect.pattern.excess.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double at = (static_cast<double>(best < courses_of_growth ? i : n - 1 - i) + 0.5) / static_cast<double>(n);
        if (at < begin) continue; // as good as none yet
        suspect.pattern.excess[i] = static_cast<float>(excess[i]);
        suspect.pattern.sum += excess[i];
    }
    for (std::size_t r = 0; r < matrix.ranks(); ++r) {
        suspect.parts.push_back({r, suspect.pattern.excess});
        suspect.rows.push_back(r);
    }
    suspect.gain = model.gain_without(suspect.parts);
    if (suspect.gain.value < least_sum) return;
    suspect.function = {told.node, told.share, told.error / told.slope};
    suspect.gain.high *= 1 + 1.96 * inverse / weights / most;
    const auto at = std::find_if(found.begin(), found.end(), [&](const Suspect& one) { return is_growth(one) && one.pattern.kind == suspect.pattern.kind; });
    if (at != found.end())
        *at = std::move(suspect);
    else
        found.push_back(std::move(suspect));
}

} // namespace libprofile::tools
