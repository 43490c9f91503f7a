#include "tools/timeseries/alignment.hpp"

#include "tools/structure/banded_alignment.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_cells = 1 << 22;
constexpr double most_unlike = 0.1;    // of all times: then iterations with one number are taken for the same
constexpr std::size_t least_band = 16; // iterations by which partners may always differ in number, beyond the difference of both loops

using Times = std::map<ContextId, double>;

void add_times(const TimeNode& node, double times, Times& sums) {
    sums[node.context] += times * node.duration;
    for (const TimeNode& child : node.children) add_times(child, times, sums);
    for (const TimeNode& iteration : node.clusters)
        for (const TimeNode& child : iteration.children) add_times(child, times * iteration.count, sums);
}

std::vector<Times> times_of(const TimeNode& loop) {
    std::vector<Times> times(loop.clusters.size() + 1); // the last is that of nothing
    for (std::size_t c = 0; c < loop.clusters.size(); ++c) add_times(loop.clusters[c], 1, times[c]);
    return times;
}

/// The times of contexts that only one has. How long those of both take is no sign: it may be an imbalance.
double distance(const Times& a, const Times& b) {
    double sum = 0;
    auto at = b.begin();
    for (const auto& [context, time] : a) {
        for (; at != b.end() && at->first < context; ++at) sum += at->second;
        if (at != b.end() && at->first == context)
            ++at;
        else
            sum += time;
    }
    for (; at != b.end(); ++at) sum += at->second;
    return std::floor(sum + 0.3); // whole ns: rounding of means must not decide between pairings that cost the same
}

/// Costs of all pairs of clusters.
class Costs {
  public:
    Costs(const TimeNode& a, const TimeNode& b) : a_(a), b_(b), width_(b.clusters.size() + 1) {
        const std::vector<Times> of_a = times_of(a), of_b = times_of(b);
        for (const Times& x : of_a)
            for (const Times& y : of_b) costs_.push_back(distance(x, y));
    }
    double pair(std::size_t i, std::size_t j) const { return at(cluster(a_, i), cluster(b_, j)); }
    double only_a(std::size_t i) const { return at(cluster(a_, i), width_ - 1); }
    double only_b(std::size_t j) const { return at(a_.clusters.size(), cluster(b_, j)); }

  private:
    static std::size_t cluster(const TimeNode& loop, std::size_t i) {
        return loop.iterations[i] == rejected_iteration ? loop.clusters.size() : loop.iterations[i];
    }
    double at(std::size_t x, std::size_t y) const { return costs_[x * width_ + y]; }

    const TimeNode &a_, &b_;
    std::size_t width_;
    std::vector<double> costs_;
};

} // namespace

AlignedIterations aligned(const TimeNode& a, const TimeNode& b) {
    const std::size_t n = a.iterations.size(), m = b.iterations.size();
    const std::size_t slack = (n > m ? n - m : m - n) + least_band;
    AlignedIterations out{a.iterations, b.iterations};
    if (n == 0 || m == 0 || cells_of_band(n, m, slack) > most_cells) { // by number
        out.a.resize(std::max(n, m), rejected_iteration);
        out.b.resize(std::max(n, m), rejected_iteration);
        return out;
    }
    const Costs costs(a, b);
    if (n == m) {
        double cost = 0, all = 0;
        for (std::size_t i = 0; i < n; ++i) {
            cost += costs.pair(i, i);
            all += costs.only_a(i) + costs.only_b(i);
        }
        if (cost <= most_unlike * all) return out;
    }
    const std::vector<AlignmentStep> steps = cheapest_steps(
        n, m, slack, [&](std::size_t i, std::size_t j) { return costs.pair(i, j); }, [&](std::size_t i) { return costs.only_a(i); },
        [&](std::size_t j) { return costs.only_b(j); });
    out.a.clear();
    out.b.clear();
    std::size_t i = 0, j = 0;
    for (const AlignmentStep step : steps) {
        out.a.push_back(step == AlignmentStep::OnlyB ? rejected_iteration : a.iterations[i++]);
        out.b.push_back(step == AlignmentStep::OnlyA ? rejected_iteration : b.iterations[j++]);
    }
    return out;
}

} // namespace libprofile::tools
