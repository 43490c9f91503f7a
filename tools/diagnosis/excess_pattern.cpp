#include "tools/diagnosis/excess_pattern.hpp"

#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::size_t smoothed = 5;             // values of a running median: what is shorter than half of it is no level
constexpr std::size_t around = 25;              // values around one that it must stick out of
constexpr double smallest_spike = 0.05;         // of a typical iteration
constexpr double smallest_period_excess = 0.01; // of a typical iteration
constexpr double deviations = 6;                // that a spike is above its surroundings
constexpr std::size_t longest_period = 300;     // iterations
constexpr std::size_t most_pieces = 20;         // of a range
constexpr double explains_enough = 0.8;         // of the best explanation: then the simpler one is taken

double deviations_from_median(std::vector<double>::const_iterator first, std::vector<double>::const_iterator end) {
    const double middle = quantile(std::vector<double>(first, end), 0.5);
    return std::accumulate(first, end, 0.0, [&](double sum, double value) { return sum + std::abs(value - middle); });
}

class Finder {
  public:
    Finder(std::span<const float> x, const PatternSearch& search) : x_(x), search_(search), smooth_(running_median(x, smoothed)) {}

    ExcessPattern best() {
        std::vector<ExcessPattern> found;
        if (search_.may_be_periodic || search_.only_period != 0) found.push_back(periodic());
        const std::vector<Level> levels = levels_of(smooth_, smoothed, search_.least_change * search_.typical);
        found.push_back(range(levels));
        found.push_back(along_a_line(false));
        found.push_back(along_a_line(true));
        if (search_.may_be_steady) found.push_back(steady());
        found.push_back(scattered());
        double most = 0;
        for (const ExcessPattern& pattern : found) most = std::max(most, pattern.sum);
        if (most < search_.least_sum || most <= 0) return {};
        for (ExcessPattern& pattern : found)
            if (pattern.sum >= explains_enough * most && pattern.sum >= search_.least_sum) return std::move(pattern);
        return {};
    }

  private:
    std::size_t size() const { return x_.size(); }

    ExcessPattern make(PatternKind kind) const {
        ExcessPattern pattern;
        pattern.kind = kind;
        pattern.excess.resize(size());
        return pattern;
    }
    static void set(ExcessPattern& pattern, std::size_t i, double value) {
        if (value <= 0) return;
        pattern.excess[i] = static_cast<float>(value);
        pattern.sum += value;
    }
    double noise() {
        if (noise_ < 0) {
            std::vector<double> rest(size());
            for (std::size_t i = 0; i < size(); ++i) rest[i] = x_[i] - smooth_[i];
            noise_ = robust_deviation(std::move(rest));
        }
        return noise_;
    }

    /// Always about as much.
    ExcessPattern steady() {
        ExcessPattern pattern = make(PatternKind::Steady);
        const double low = quantile(smooth_, 0.1), middle = quantile(smooth_, 0.5);
        const double mean = std::accumulate(smooth_.begin(), smooth_.end(), 0.0) / static_cast<double>(size());
        if (low <= 0 || low < 0.5 * mean) return pattern;
        for (std::size_t i = 0; i < size(); ++i) set(pattern, i, std::min<double>(x_[i], middle + 3 * noise()));
        return pattern;
    }

    /// Parts on a higher level than the lowest one.
    ExcessPattern range(const std::vector<Level>& levels) {
        const std::size_t n = size();
        ExcessPattern pattern = make(PatternKind::Range);
        if (levels.size() < 2) return pattern;
        double low = levels[0].mean, high = levels[0].mean;
        for (const Level& level : levels) {
            high = std::max(high, level.mean);
            if (level.length() * 20 >= n) low = std::min(low, level.mean);
        }
        low = std::min(low, high);
        std::size_t last = 0, pieces = 0, covered = 0;
        for (const Level& level : levels) {
            if (level.mean <= low + (high - low) / 2) continue;
            pieces += pattern.sum == 0 || level.first != last + 1 ? 1 : 0;
            for (std::size_t i = level.first; i <= level.last; ++i) set(pattern, i, x_[i] - low);
            last = level.last;
            covered += level.length();
        }
        if (static_cast<double>(covered) > search_.most_of_run * static_cast<double>(n)) return make(PatternKind::Range);
        if (pieces > most_pieces) return make(PatternKind::Range); // that comes and goes
        if (levels[0].mean > low + (high - low) / 2 && last < std::max<std::size_t>(n / 10, 3)) pattern.kind = PatternKind::WarmUp;
        return pattern;
    }

    /// More and more, or less and less: a line fits better than two levels do, by sums of absolute deviations of medians: single bursts mean little there.
    /// Source of the line: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968).
    ExcessPattern along_a_line(bool shrinks) {
        ExcessPattern pattern = make(shrinks ? PatternKind::Shrinking : PatternKind::Growing);
        if (size() < 20) return pattern;
        const std::size_t blocks = std::min<std::size_t>(50, size() / 4);
        std::vector<double> block;
        for (std::size_t b = 0; b < blocks; ++b) {
            const auto first = smooth_.begin() + static_cast<std::ptrdiff_t>(b * size() / blocks),
                       end = smooth_.begin() + static_cast<std::ptrdiff_t>((b + 1) * size() / blocks);
            block.push_back(quantile(std::vector<double>(first, end), 0.5));
        }
        if (shrinks) std::reverse(block.begin(), block.end());
        std::vector<double> slopes, offsets;
        for (std::size_t a = 0; a < blocks; ++a)
            for (std::size_t b = a + 1; b < blocks; ++b) slopes.push_back((block[b] - block[a]) / static_cast<double>(b - a));
        const double slope = quantile(std::move(slopes), 0.5);
        if (slope * static_cast<double>(blocks) < search_.least_change * search_.typical) return pattern;
        for (std::size_t b = 0; b < blocks; ++b) offsets.push_back(block[b] - slope * static_cast<double>(b));
        const double off_line = deviations_from_median(offsets.begin(), offsets.end()), off_level = deviations_from_median(block.begin(), block.end());
        double off_step = off_level;
        for (auto cut = block.begin() + 1; cut != block.end(); ++cut)
            off_step = std::min(off_step, deviations_from_median(block.begin(), cut) + deviations_from_median(cut, block.end()));
        if (off_line > 0.6 * off_level || off_line > off_step) return pattern;
        // Above where it began, as it is: growth need not be a line.
        const double low = std::min(block[0], block[1]);
        for (std::size_t i = 0; i < size(); ++i) {
            const std::size_t b = std::min(blocks - 1, i * blocks / size());
            const double line = block[shrinks ? blocks - 1 - b : b];
            set(pattern, i, std::min<double>(x_[i], line + 3 * noise()) - low);
        }
        return pattern;
    }

    /// Values that stick out of those around them.
    ExcessPattern scattered() {
        ExcessPattern pattern = make(PatternKind::Scattered);
        if (size() < 3) return pattern;
        const std::vector<double> middle = running_median(x_, std::min(around, size() | 1));
        std::vector<double> rest(size());
        for (std::size_t i = 0; i < size(); ++i) rest[i] = x_[i] - middle[i];
        const double least = std::max(deviations * robust_deviation(rest), smallest_spike * search_.typical);
        std::size_t last = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            if (rest[i] <= least) continue;
            set(pattern, i, rest[i]);
            last = i;
        }
        if (pattern.excess[0] > 0 && last < std::max<std::size_t>(size() / 20, 3) && size() >= 10) pattern.kind = PatternKind::WarmUp;
        return pattern;
    }

    /// The means of iterations of the same remainder; nothing remains of what has no period.
    /// Source: M. G. Kendall and A. Stuart, "The Advanced Theory of Statistics" III (1966), 46.41: the Buys-Ballot table.
    double explained_by(std::size_t period, const std::vector<double>& values, std::vector<double>& means) const {
        const auto n = static_cast<double>(size());
        std::vector<double> counts(period);
        means.assign(period, 0);
        double sum = 0, squares = 0, between = 0;
        for (std::size_t i = 0, c = 0; i < size(); ++i, c = c + 1 == period ? 0 : c + 1) {
            means[c] += values[i];
            ++counts[c];
            sum += values[i];
            squares += values[i] * values[i];
        }
        for (std::size_t c = 0; c < period; ++c) {
            between += means[c] * means[c] / counts[c];
            means[c] /= counts[c];
        }
        const double all = squares - sum * sum / n, within = squares - between;
        return all <= 0 ? 0 : 1 - within / (n - static_cast<double>(period)) / (all / (n - 1));
    }

    ExcessPattern periodic() {
        ExcessPattern pattern = make(PatternKind::Periodic);
        const std::size_t most = std::min(longest_period, size() / 4);
        if (most < 2) return pattern;
        const std::size_t from = search_.only_period == 0 ? 2 : search_.only_period, to = search_.only_period == 0 ? most : search_.only_period;
        if (to > most) return pattern;
        std::vector<double> own(x_.begin(), x_.end()), means, scores(to + 1);
        // Of bursts without a period only the logarithm counts.
        const double middle = quantile(own, 0.5), scale = std::max(robust_deviation(own), 0.002 * search_.typical);
        std::vector<double> mild = own;
        for (double& value : mild) value = std::copysign(std::log1p(std::abs(value - middle) / scale), value - middle);
        for (std::size_t p = from; p <= to; ++p) scores[p] = explained_by(p, mild, means);
        const double best = *std::max_element(scores.begin(), scores.end());
        if (best < 0.4) return pattern;
        std::size_t period = from;
        while (scores[period] < 0.95 * best) ++period;
        for (std::size_t c = 0; c < period; ++c) {
            std::vector<double> members;
            for (std::size_t i = c; i < size(); i += period) members.push_back(own[i]);
            means[c] = quantile(std::move(members), 0.5);
        }
        const double low = quantile(means, 0.5), high = *std::max_element(means.begin(), means.end());
        const double low_of_two = period == 2 ? std::min(means[0], means[1]) : low;
        const double border = (low_of_two + high) / 2;
        if (high - low_of_two < smallest_period_excess * search_.typical) return pattern;
        std::size_t above = 0, members = 0;
        pattern.period = period;
        for (std::size_t i = 0; i < size(); ++i) {
            if (means[i % period] <= border) continue;
            ++members;
            above += x_[i] > border ? 1 : 0;
            set(pattern, i, x_[i] - low_of_two);
        }
        if (above * 10 < members * 7 || members * 2 > size() + period) return make(PatternKind::Periodic);
        return pattern;
    }

    std::span<const float> x_;
    const PatternSearch& search_;
    std::vector<double> smooth_;
    double noise_ = -1;
};

} // namespace

const char* pattern_name(PatternKind kind) {
    constexpr const char* names[] = {"steady", "range", "growing", "shrinking", "periodic", "warm_up", "scattered"};
    return names[static_cast<std::size_t>(kind)];
}

ExcessPattern find_pattern(std::span<const float> excess, const PatternSearch& search) {
    double above = 0;
    for (const float value : excess) above += std::max(value, 0.0f);
    if (excess.empty() || above <= 0 || above < search.least_sum) return {};
    return Finder(excess, search).best();
}

double overlap(const ExcessPattern& a, const ExcessPattern& b) {
    std::size_t in_a = 0, in_b = 0, in_both = 0;
    for (std::size_t i = 0; i < std::min(a.excess.size(), b.excess.size()); ++i) {
        const bool has_a = a.excess[i] > 0, has_b = b.excess[i] > 0;
        in_a += has_a ? 1 : 0;
        in_b += has_b ? 1 : 0;
        in_both += has_a && has_b ? 1 : 0;
    }
    const std::size_t fewer = std::min(in_a, in_b);
    return fewer == 0 ? 0 : static_cast<double>(in_both) / static_cast<double>(fewer);
}

} // namespace libprofile::tools
