#include "tools/analysis/trend.hpp"

#include "tools/analysis/iterations.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace libprofile::tools {

namespace {

/// Outliers do not move it, and unlike the median it does not jump where iterations are of two kinds.
double middle_mean(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t cut = sorted.size() / 4;
    double sum = 0;
    for (std::size_t i = cut; i < sorted.size() - cut; ++i) sum += sorted[i];
    return sum / static_cast<double>(sorted.size() - 2 * cut);
}

/// By how many standard deviations `other` is larger than `one`, by the ranks among all values, if both are independent values of one distribution: the
/// rank-sum test (Wilcoxon, Biometrics Bulletin 1, 1945; Mann and Whitney, Annals of Mathematical Statistics 18, 1947), with corrections for ties and
/// continuity.
double rank_deviations(std::span<const double> one, std::span<const double> other) {
    std::vector<std::pair<double, bool>> all;
    for (const double value : one) all.emplace_back(value, true);
    for (const double value : other) all.emplace_back(value, false);
    std::sort(all.begin(), all.end());
    const auto n = static_cast<double>(one.size()), m = static_cast<double>(other.size()), sum = n + m;
    double ranks = 0, ties = 0;
    for (std::size_t i = 0, end = 0; i < all.size(); i = end) {
        for (end = i; end < all.size() && all[end].first == all[i].first;) ++end;
        const double equal = static_cast<double>(end - i), rank = static_cast<double>(i + end + 1) / 2;
        for (std::size_t k = i; k < end; ++k) ranks += all[k].second ? rank : 0;
        ties += equal * equal * equal - equal;
    }
    const double variance = n * m / 12 * (sum + 1 - ties / (sum * (sum - 1)));
    const double less = n * (sum + 1) / 2 - ranks;
    return variance <= 0 ? 0 : std::copysign(std::max(0.0, std::abs(less) - 0.5), less) / std::sqrt(variance);
}

/// How much parts of the iterations that follow each other differ, typically; 0 if there are too few to tell. What comes and goes differs as much from
/// part to part as from the first to the last.
double usual_change(std::span<const double> times, std::size_t part) {
    std::vector<double> changes;
    double before = middle_mean(times.first(part));
    for (std::size_t i = part; i + part <= times.size(); i += part) {
        const double now = middle_mean(times.subspan(i, part));
        changes.push_back(std::abs(now - before));
        before = now;
    }
    return changes.size() < 8 ? 0 : spread_of(changes).median;
}

/// Returns at which distance the slow iterations follow each other, 0 if they are irregular.
std::uint64_t period_of(const std::vector<std::uint64_t>& slow) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < slow.size(); ++i) steps.push_back(static_cast<double>(slow[i] - slow[i - 1]));
    const double every = spread_of(steps).median;
    // One more or less is no matter in a hundred, but in two.
    const double tolerance = every < 10 ? 0 : std::max(1.0, every * 0.05);
    const auto regular = std::count_if(steps.begin(), steps.end(), [&](double s) { return std::abs(s - every) <= tolerance; });
    const bool is_regular = steps.size() >= 3 && every > 1 && static_cast<double>(regular) >= 0.7 * static_cast<double>(steps.size());
    return is_regular ? static_cast<std::uint64_t>(std::llround(every)) : 0;
}

} // namespace

Trend trend_of(std::vector<double> all_times) {
    Trend trend;
    const std::size_t n = trend.iterations = all_times.size();
    trend.times = std::move(all_times);
    const std::span<const double> times = trend.times;
    trend.typical = spread_of(trend.times).median;
    if (n >= Trend::fewest) {
        trend.compared = std::max<std::size_t>(10, n / 10);
        const std::span<const double> first = times.first(trend.compared), last = times.last(trend.compared);
        trend.early = middle_mean(first);
        trend.late = middle_mean(last);
        const double sign = trend.late < trend.early ? -1 : 1;
        trend.changes = std::abs(trend.change()) >= Trend::least_change && sign * rank_deviations(first, last) >= Trend::least_deviations &&
                        std::abs(trend.late - trend.early) >= Trend::least_over_usual * usual_change(times, trend.compared);
    }
    double all = 0, excess = 0;
    for (std::size_t i = 0; i < n; ++i) {
        all += times[i];
        if (times[i] <= 1.5 * trend.typical) continue;
        trend.slow.push_back(i);
        excess += times[i] - trend.typical;
    }
    if (trend.slow.size() * 4 >= n) trend.slow.clear();
    trend.slow_share = all == 0 ? 0 : excess / all;
    trend.period = period_of(trend.slow);
    return trend;
}

/// A job that was killed may lack the last iterations of some ranks.
static Trend trend_of(const std::vector<const Location*>& locations, std::uint32_t phase) {
    const Location* with_most = nullptr;
    std::size_t most = 0, fewest = SIZE_MAX;
    for (const Location* location : locations) {
        const PhaseData* data = find_phase(location, phase);
        if (data == nullptr || data->iteration_ns.empty()) continue;
        fewest = std::min(fewest, data->iteration_ns.size());
        if (data->iteration_ns.size() <= most) continue;
        most = data->iteration_ns.size();
        with_most = location;
    }
    const bool are_alike = most <= fewest + 2 + most / 50;
    Trend trend = most == 0 ? Trend() : trend_of(iteration_times(are_alike ? locations : std::vector{with_most}, phase).maximum);
    trend.phase = phase;
    if (!are_alike) trend.rank = with_most->rank;
    return trend;
}

std::vector<Trend> trends(const Profile& profile, const std::vector<const Location*>& locations) {
    std::vector<std::pair<double, Trend>> list;
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        if (profile.phases[p].kind != PhaseKind::Iterations) continue;
        Trend trend = trend_of(locations, p);
        if (trend.iterations == 0) continue;
        double wall = 0;
        for (const Location* location : locations)
            if (const PhaseData* data = find_phase(location, p)) wall += static_cast<double>(data->wall_inclusive_ns);
        list.emplace_back(wall, std::move(trend));
    }
    std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
        const bool is_frame = profile.phases[a.second.phase].is_frame;
        return is_frame != profile.phases[b.second.phase].is_frame ? !is_frame : a.first > b.first;
    });
    std::vector<Trend> out;
    for (auto& [wall, trend] : list) out.push_back(std::move(trend));
    return out;
}

} // namespace libprofile::tools
