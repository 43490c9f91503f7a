#include "tools/comparison/scaling.hpp"

#include "tools/comparison/run_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace libprofile::tools {

namespace {

// How total computing grows, as an exponent of the size: 0 with the same problem, 1 with one that grows with the size.
constexpr double between_kinds = 0.5;
constexpr double sure_of_strong = 0.25, sure_of_weak = 0.75;
// What every rank does makes total computing grow with the same problem, too. But a rank that computes clearly shorter has less of a problem:
// the share of its time in the smallest run.
constexpr double shorter = 0.7, sure_to_be_shorter = 0.6, as_long = 0.84;

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double longest_rank(const Run& run) {
    const FrameColumn& column = run.frame.columns.front();
    double most = 0;
    for (std::size_t p = 0; p < column.places(); ++p) {
        double total = 0;
        for (std::uint64_t i = column.begin[p]; i < column.begin[p + 1]; ++i) total += column.value[i];
        most = std::max(most, total);
    }
    return most;
}

/// By run, then row: means per rank.
std::vector<std::vector<RunValue>> means_of(const std::vector<Run>& runs, const std::vector<std::uint32_t>& row_of, std::size_t rows) {
    std::vector<std::vector<RunValue>> means;
    for (const Run& run : runs) means.push_back(mean_values(run, run.frame.columns.front(), row_of, rows));
    return means;
}

double median_at(const ScaledSize& size, const std::vector<std::vector<RunValue>>& means, std::size_t row) {
    std::vector<double> values;
    for (const std::size_t run : size.runs) values.push_back(means[run][row].value);
    return median_of(std::move(values));
}

std::vector<ScaledSize> sizes_of(const std::vector<Run>& runs) {
    std::map<std::size_t, ScaledSize> by_resources;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        ScaledSize& size = by_resources[runs[run].threads];
        size.resources = runs[run].threads;
        size.ranks = ranks_of(runs[run]).size();
        size.runs.push_back(run);
    }
    if (by_resources.size() < 2)
        throw FrameError("all runs have the same size; scale needs runs with different numbers of ranks or threads, and libprofile compare is for equal ones");
    std::vector<ScaledSize> sizes;
    for (auto& [resources, size] : by_resources) {
        std::vector<double> times;
        for (const std::size_t run : size.runs) times.push_back(longest_rank(runs[run]));
        const auto [least, most] = std::minmax_element(times.begin(), times.end());
        size.spread = *most - *least;
        size.time = median_of(times);
        sizes.push_back(std::move(size));
    }
    return sizes;
}

/// Decides between strong and weak scaling.
void see_kind(Scaling& scaling, double computing_smallest, double computing_largest) {
    const double factor = static_cast<double>(scaling.largest().resources) / static_cast<double>(scaling.smallest().resources);
    scaling.computing = computing_smallest == 0 ? factor : factor * computing_largest / computing_smallest;
    if (scaling.is_told) return;
    const double exponent = std::log(std::max(scaling.computing, 1e-9)) / std::log(factor);
    const double share = scaling.computing / factor;
    scaling.kind = exponent < between_kinds || share < shorter ? ScalingKind::Strong : ScalingKind::Weak;
    scaling.is_sure = exponent <= sure_of_strong || share <= sure_to_be_shorter || (exponent >= sure_of_weak && share >= as_long);
}

Growth growth_at_sizes(const Scaling& scaling, const std::vector<double>& values) {
    std::vector<double> sizes;
    for (const ScaledSize& size : scaling.sizes) sizes.push_back(static_cast<double>(size.resources));
    return growth_of(sizes, values);
}

} // namespace

Scaling scaling_of(std::vector<Run>& runs, std::optional<ScalingKind> told) {
    std::vector<Run*> all_runs;
    for (Run& run : runs) all_runs.push_back(&run);
    Scaling scaling;
    scaling.sizes = sizes_of(runs);
    scaling.remarks = unify_runs(all_runs);
    scaling.kind = told.value_or(ScalingKind::Strong);
    scaling.is_told = told.has_value();
    const Activities activities = activities_of(runs.front().frame);
    std::vector<std::uint32_t> use_of(activities.of_node.size());
    for (std::size_t n = 0; n < use_of.size(); ++n) use_of[n] = static_cast<std::uint32_t>(activities.list[activities.of_node[n]].use);
    const auto by_use = means_of(runs, use_of, time_use_count), by_activity = means_of(runs, activities.of_node, activities.list.size());
    const ScaledSize &smallest = scaling.smallest(), &largest = scaling.largest();
    constexpr auto computing = static_cast<std::size_t>(TimeUse::Computing);
    see_kind(scaling, median_at(smallest, by_use, computing), median_at(largest, by_use, computing));

    const auto ideal = [&](const ScaledSize& size) { // factor of the baseline's time
        return scaling.kind == ScalingKind::Weak ? 1.0 : static_cast<double>(smallest.resources) / static_cast<double>(size.resources);
    };
    std::vector<double> times;
    for (ScaledSize& size : scaling.sizes) {
        size.efficiency = smallest.time * ideal(size) / size.time;
        size.lost = size.time - smallest.time * ideal(size);
        times.push_back(size.time);
    }
    scaling.growth = growth_at_sizes(scaling, times);
    for (std::size_t use = 0; use < time_use_count; ++use) {
        scaling.lost_by_use[use] = median_at(largest, by_use, use) - ideal(largest) * median_at(smallest, by_use, use);
        scaling.lost += scaling.lost_by_use[use];
    }
    for (std::size_t row = 0; row < activities.list.size(); ++row) {
        ScaledActivity one{activities.list[row], {}, 0, 0, {}};
        for (const ScaledSize& size : scaling.sizes) one.time.push_back(median_at(size, by_activity, row));
        if (std::all_of(one.time.begin(), one.time.end(), [](double t) { return t == 0; })) continue;
        one.lost = one.time.back() - ideal(largest) * one.time.front();
        one.efficiency = one.time.back() == 0 ? std::nan("") : ideal(largest) * one.time.front() / one.time.back();
        one.growth = growth_at_sizes(scaling, one.time);
        scaling.activities.push_back(std::move(one));
    }
    std::stable_sort(scaling.activities.begin(), scaling.activities.end(), [](const ScaledActivity& a, const ScaledActivity& b) { return a.lost > b.lost; });
    for (const Run& run : runs) scaling.remarks.insert(scaling.remarks.end(), run.notes.begin(), run.notes.end());
    return scaling;
}

} // namespace libprofile::tools
