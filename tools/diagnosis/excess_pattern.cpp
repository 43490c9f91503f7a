#include "tools/diagnosis/excess_pattern.hpp"

#include "tools/diagnosis/growth_course.hpp"
#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <array>
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
constexpr double smallest_part = 0.1;           // of the largest excess: a warm-up is there up to that
constexpr double least_certain = 4;             // logarithm of how much likelier a line is than a level: 1 of 200 by chance
constexpr double smallest_slope = 0.6;          // of the change of a level: a line has all iterations to tell it
constexpr double far_above = 0.5;               // of what has grown in the end
constexpr double part_of_singles = 0.3;         // that has a period
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
        found.push_back(along_a_line(false)); // only if it fits better than levels do
        found.push_back(along_a_line(true));
        found.push_back(range(levels));
        if (search_.may_be_steady) found.push_back(steady());
        found.push_back(scattered());
        double most = 0;
        for (const ExcessPattern& pattern : found) most = std::max(most, pattern.sum);
        if (most < search_.least_sum || most <= 0) return {};
        for (ExcessPattern& pattern : found) {
            // Single iterations may be those of two periods. What is left of one is looked for afterwards.
            const bool is_part = pattern.kind == PatternKind::Periodic && pattern.sum >= part_of_singles * most && found.back().sum >= most;
            if ((pattern.sum < explains_enough * most && !is_part) || pattern.sum < search_.least_sum) continue;
            if (pattern.kind == PatternKind::Scattered) leave_trifles(pattern);
            if (pattern.kind == PatternKind::Growing || pattern.kind == PatternKind::Shrinking) leave_begin(pattern);
            return std::move(pattern);
        }
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
    static void leave_trifles(ExcessPattern& pattern) {
        const float least = beside_the_largest(pattern.excess);
        for (float& value : pattern.excess) {
            if (value >= least) continue;
            pattern.sum -= value;
            value = 0;
        }
    }
    /// Where as good as none has grown yet.
    void leave_begin(ExcessPattern& pattern) const {
        const bool shrinks = pattern.kind == PatternKind::Shrinking;
        for (std::size_t i = 0; i < size(); ++i) {
            if (static_cast<double>(shrinks ? size() - 1 - i : i) >= begin_[shrinks ? 1 : 0] * static_cast<double>(size())) continue;
            pattern.sum -= pattern.excess[i];
            pattern.excess[i] = 0;
        }
    }
    double noise() {
        if (noise_ < 0) {
            std::vector<double> rest(size());
            for (std::size_t i = 0; i < size(); ++i) rest[i] = x_[i] - smooth_[i];
            noise_ = robust_deviation(std::move(rest));
        }
        return noise_;
    }

    /// What is above `low` of a value that lies on a line: usual jitter stays behind, since it is there without the excess, too.
    double above(std::size_t i, double line, double low) {
        const double off = x_[i] - line;
        return (off > 3 * noise() ? line + 3 * noise() : off < -3 * noise() ? x_[i] : line) - low;
    }

    /// Always about as much: in each iteration, or in each twentieth of them.
    ExcessPattern steady() {
        ExcessPattern pattern = make(PatternKind::Steady);
        const double mean = std::accumulate(smooth_.begin(), smooth_.end(), 0.0) / static_cast<double>(size());
        if (mean <= 0) return pattern;
        const bool is_regular = quantile(smooth_, 0.1) >= 0.5 * mean;
        if (!is_regular && !is_spread_evenly(x_)) return pattern;
        const double middle = quantile(smooth_, 0.5);
        const bool is_even = is_regular && noise() <= search_.usual_noise;
        const double all = std::accumulate(x_.begin(), x_.end(), 0.0) / static_cast<double>(size());
        // Of values that vary more than jitter does, jitter's part stays behind.
        const double jitter = std::sqrt(2.0) * search_.usual_noise / 4, own = 1 - std::min(1.0, std::pow(jitter / std::max(noise(), 1.0), 2));
        for (std::size_t i = 0; i < size(); ++i) set(pattern, i, is_even ? above(i, middle, 0) : all + own * (x_[i] - all));
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
            for (std::size_t i = level.first; i <= level.last; ++i)
                set(pattern, i, std::abs(x_[i] - level.mean) <= 3 * noise() ? level.mean - low : x_[i] - low);
            last = level.last;
            covered += level.length();
        }
        if (static_cast<double>(covered) > search_.most_of_run * static_cast<double>(n)) return make(PatternKind::Range);
        if (pieces > most_pieces) return make(PatternKind::Range); // that comes and goes
        if (levels[0].mean > low + (high - low) / 2 && last < std::max<std::size_t>(n / 10, 3)) return warm_up(low, last);
        return pattern;
    }

    /// What is long at first may get shorter little by little.
    ExcessPattern warm_up(double low, std::size_t last) {
        ExcessPattern pattern = make(PatternKind::WarmUp);
        const double highest = *std::max_element(smooth_.begin(), smooth_.begin() + static_cast<std::ptrdiff_t>(last + 1));
        const double border = low + std::max(smallest_part * (highest - low), 2 * noise());
        for (std::size_t i = 0; i < size() && (i <= last || (smooth_[i] > border && i * 5 < size())); ++i) set(pattern, i, x_[i] - low);
        return pattern;
    }

    /// A line, by values at equal distances: `rise` from its begin at `low` to its end.
    struct Line {
        double low = 0, rise = 0;
        double off = 0;   // sum of absolute deviations
        double alike = 0; // correlation of a deviation with the next one
    };
    static Line line_through(const std::vector<double>& block, std::size_t shape) {
        const std::size_t blocks = block.size();
        std::vector<double> at(blocks);
        for (std::size_t b = 0; b < blocks; ++b) at[b] = growth_course(shape, b, blocks);
        const auto time = [&](std::size_t b) { return at[b]; };
        std::vector<double> slopes, offsets;
        for (std::size_t a = 0; a < blocks; ++a)
            for (std::size_t b = a + 1; b < blocks; ++b) slopes.push_back((block[b] - block[a]) / (time(b) - time(a)));
        Line line{0, quantile(std::move(slopes), 0.5), 0, 0};
        for (std::size_t b = 0; b < blocks; ++b) offsets.push_back(block[b] - line.rise * time(b));
        line.off = deviations_from_median(offsets.begin(), offsets.end());
        line.low = quantile(offsets, 0.5);
        double squares = 0, products = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
            squares += (offsets[b] - line.low) * (offsets[b] - line.low);
            if (b > 0) products += (offsets[b] - line.low) * (offsets[b - 1] - line.low);
        }
        line.alike = squares <= 0 ? 0 : products / squares;
        return line;
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
        const double off_level = deviations_from_median(block.begin(), block.end());
        double off_step = off_level;
        for (auto cut = block.begin() + 1; cut != block.end(); ++cut)
            off_step = std::min(off_step, deviations_from_median(block.begin(), cut) + deviations_from_median(cut, block.end()));
        std::vector<Line> lines;
        const auto fit_to = [&](std::size_t shapes) {
            while (lines.size() < shapes) {
                lines.push_back(line_through(block, lines.size()));
                lines.back().off = std::max(lines.back().off, 1e-3 * off_level); // no line is so exact that others are ruled out
            }
        };
        fit_to(plain_shapes);
        const Line best = *std::min_element(lines.begin(), lines.end(), [](const Line& one, const Line& other) { return one.off < other.off; });
        if (best.rise <= 0 || off_level <= 0) return pattern;
        // Blocks that are alike beside each other say less than their number.
        const double alike = std::clamp(best.alike, 0.0, 0.9), certain = static_cast<double>(blocks) * (1 - alike) / (1 + alike);
        const bool is_likely = best.off <= 0.6 * off_level || certain * std::log(off_level / best.off) >= least_certain;
        if (!is_likely || best.off > off_step * (1 + 1 / certain)) return pattern;
        // Which way it bends may be open, and with it where it began: the mean, weighted by how likely each is.
        // Source: K. P. Burnham and D. R. Anderson, "Model Selection and Multimodel Inference" (2002), of lines with as many parameters.
        fit_to(courses_of_growth);
        std::array<double, courses_of_growth> weight{};
        for (std::size_t k = 0; k < lines.size(); ++k) weight[k] = (k == 0 ? simpler_growth : 1) * std::pow(best.off / lines[k].off, certain);
        double weights = 0, low = 0, slope = 0;
        for (std::size_t k = 0; k < plain_shapes; ++k) {
            weights += weight[k];
            low += weight[k] * lines[k].low;
            slope += weight[k] * lines[k].rise;
        }
        low = std::max(low / weights, *std::min_element(block.begin(), block.end())); // a line may begin below all that there was
        slope /= weights;
        begin_[shrinks ? 1 : 0] = growth_begins(weight);
        if (slope < smallest_slope * search_.least_change * search_.typical) return pattern;
        // Above where it began, as it is: growth need not be a line. What is far above any line is another matter.
        std::vector<double> told(blocks), off(blocks);
        for (std::size_t b = 0; b < blocks; ++b) {
            for (std::size_t k = 0; k < plain_shapes; ++k) told[b] += weight[k] / weights * (lines[k].low + lines[k].rise * growth_course(k, b, blocks));
            off[b] = block[b] - told[b];
        }
        const double far = std::max(deviations * robust_deviation(off), far_above * slope);
        for (std::size_t i = 0; i < size(); ++i) {
            const std::size_t part = std::min(blocks - 1, i * blocks / size()), b = shrinks ? blocks - 1 - part : part;
            set(pattern, i, above(i, off[b] > far ? told[b] : block[b], low));
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
        if (pattern.excess[0] > 0 && is_at_the_start(last, size()) && size() >= 10) pattern.kind = PatternKind::WarmUp;
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
        std::vector<bool> is_member(period);
        for (std::size_t c = 0; c < period; ++c) is_member[c] = means[c] > border;
        pattern.period = smallest_period(is_member);
        for (std::size_t i = 0; i < size(); ++i) {
            if (!is_member[i % period]) continue;
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
    std::array<double, 2> begin_{}; // of the run: where growing, and shrinking, is there
};

bool has_even_parts(std::span<const float> excess) {
    constexpr std::size_t parts = 20;
    const std::size_t n = excess.size();
    if (n < 5 * parts) return false;
    const double mean = std::accumulate(excess.begin(), excess.end(), 0.0) / static_cast<double>(n);
    const auto with = std::count_if(excess.begin(), excess.end(), [&](float x) { return x > 0.2 * mean; });
    if (mean <= 0 || static_cast<double>(with) < 0.75 * static_cast<double>(n)) return false;
    std::vector<double> means;
    for (std::size_t p = 0; p < parts; ++p) {
        const auto part = excess.subspan(p * n / parts, (p + 1) * n / parts - p * n / parts);
        means.push_back(std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size()));
    }
    return quantile(means, 0.1) >= 0.6 * mean && quantile(means, 0.9) <= 1.4 * mean;
}

} // namespace

float beside_the_largest(std::span<const float> excess) {
    if (excess.empty()) return 0;
    const float least = static_cast<float>(trifle) * *std::max_element(excess.begin(), excess.end());
    double large = 0, trifles = 0;
    for (const float value : excess) (value >= least ? large : trifles) += value;
    return large >= trifles ? least : 0;
}

std::size_t smallest_period(const std::vector<bool>& is_set) {
    for (std::size_t period = 1; period < is_set.size(); ++period) {
        if (is_set.size() % period != 0) continue;
        std::size_t alike = period;
        while (alike < is_set.size() && is_set[alike] == is_set[alike - period]) ++alike;
        if (alike == is_set.size()) return period;
    }
    return is_set.size();
}

bool is_at_the_start(std::size_t last, std::size_t iterations) { return last < std::max<std::size_t>(iterations / 20, 3); }

std::size_t ExcessPattern::iterations() const {
    return static_cast<std::size_t>(std::count_if(excess.begin(), excess.end(), [](float x) { return x > 0; }));
}

bool is_spread_evenly(std::span<const float> excess) {
    if (has_even_parts(excess)) return true;
    // Jitter may hide a little of it in each single iteration.
    const std::vector<double> smooth = running_median(excess, smoothed);
    return has_even_parts(std::vector<float>(smooth.begin(), smooth.end()));
}

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
