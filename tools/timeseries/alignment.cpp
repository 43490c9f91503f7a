#include "tools/timeseries/alignment.hpp"

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

enum class Step : std::uint8_t { Both, OnlyA, OnlyB };

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
    if (n == 0 || m == 0 || (n + 1) * std::min(m + 1, 2 * slack + 1) > most_cells) { // by number
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
    const auto first_of = [&](std::size_t i) { return i > slack ? i - slack : 0; };
    const auto last_of = [&](std::size_t i) { return std::min(m, i + slack); };
    std::vector<std::vector<Step>> steps(n + 1); // by i, then j - first_of(i): the last step there
    std::vector<double> best(m + 1, INFINITY), before(m + 1, INFINITY);
    for (std::size_t i = 0; i <= n; ++i) {
        std::swap(best, before);
        for (std::size_t j = first_of(i); j <= last_of(i); ++j) {
            double least = i == 0 && j == 0 ? 0 : INFINITY;
            Step step = Step::Both;
            const auto offer = [&](double cost, Step by) {
                if (cost < least) {
                    least = cost;
                    step = by;
                }
            };
            if (i > 0 && j > 0) offer(before[j - 1] + costs.pair(i - 1, j - 1), Step::Both);
            if (i > 0) offer(before[j] + costs.only_a(i - 1), Step::OnlyA);
            if (j > first_of(i)) offer(best[j - 1] + costs.only_b(j - 1), Step::OnlyB);
            best[j] = least;
            steps[i].push_back(step);
        }
    }
    out.a.clear();
    out.b.clear();
    for (std::size_t i = n, j = m; i != 0 || j != 0;) {
        const Step step = steps[i][j - first_of(i)];
        out.a.push_back(step == Step::OnlyB ? rejected_iteration : a.iterations[--i]);
        out.b.push_back(step == Step::OnlyA ? rejected_iteration : b.iterations[--j]);
    }
    std::reverse(out.a.begin(), out.a.end());
    std::reverse(out.b.begin(), out.b.end());
    return out;
}

} // namespace libprofile::tools
