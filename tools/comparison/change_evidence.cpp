#include "tools/comparison/change_evidence.hpp"

#include "tools/analysis/poll_functions.hpp"
#include "tools/comparison/change_class.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr double least_part = 0.25;      // of a difference that has to be explained; the others may wait for it
constexpr double certain_ratio = 0.05;   // relative difference of calls or bytes to which all of a call's difference is put down
constexpr double least_chance = 0.001;   // that a function differs more than the others by chance, any of them
constexpr double like_the_others = 0.5;  // of the relative difference of computing: if the other functions surely have so much, all are slower
constexpr double sigmas_of_error = 1.96; // in half of a 95 % interval

double relative_change(const Change& change) {
    if (change.before == 0 || change.after == 0) return change.before == change.after ? 0 : 1;
    return std::abs(change.difference()) / change.before;
}

/// Of the difference, what calls have that were not made before, or more often, or with more bytes: ns in `direction`, on the ranks that make them.
double of_calls(const GroupComparison& comparison, double direction) {
    double sum = 0;
    for (const ActivityChange& one : comparison.activities) {
        const ChangeClass which = change_class(one);
        if ((which != ChangeClass::OtherCalls && which != ChangeClass::Work) || is_poll(one.activity.name)) continue;
        const double sure = std::min(1.0, std::max(relative_change(one.visits), relative_change(one.bytes)) / certain_ratio);
        sum += std::max(0.0, direction * one.there.difference()) * sure;
    }
    return sum;
}

bool is_sampled(const ActivityChange& one) { return one.activity.use == TimeUse::Computing && one.change.error > 0; }

/// Time that samples know, of both runs: means over ranks.
struct SampledTimes {
    double before = 0, after = 0, variance = 0; // of the difference

    /// @param least_variance in proportion to the time
    void add(const Change& change, double least_variance, double sign = 1) {
        before += sign * change.before;
        after += sign * change.after;
        const double by_error = change.error * change.error / (sigmas_of_error * sigmas_of_error);
        variance += sign * std::max(by_error, least_variance * (change.before + change.after));
    }
    double sum() const { return before + after; }
    /// So many samples are as exact.
    double samples() const { return sum() * sum() / variance; }
};

/// By how much more does a function differ than all others, in standard deviations?
double sigmas_above(const SampledTimes& one, const SampledTimes& others, double direction) {
    // Its samples are of the second run with this probability, if it differs like the others.
    const double expected = others.after / others.sum();
    // Of binomial variables, the arc sine of the root has nearly the same variance for all shares (F. J. Anscombe, Biometrika 35, 1948).
    const double n = one.samples(), share = one.after / one.sum();
    const double distance = 2 * (std::asin(std::sqrt((n * share + 0.375) / (n + 0.75))) - std::asin(std::sqrt(expected)));
    return direction * distance / std::sqrt(1 / (n + 0.5) + 1 / others.samples());
}

double probability_above(double sigmas) { return std::erfc(sigmas / std::sqrt(2)) / 2; }

/// Of the difference, what functions have that differ more than all others: ns in `direction`, on the ranks where they do.
double of_functions(const GroupComparison& comparison, double direction, double least_variance) {
    double rows = 0;
    SampledTimes all;
    for (const ActivityChange& one : comparison.activities) {
        if (!is_sampled(one)) continue;
        all.add(one.change, least_variance);
        ++rows;
    }
    double apart = 0, of_one_run = 0;
    SampledTimes rest = all;
    for (const ActivityChange& activity : comparison.activities) {
        if (!is_sampled(activity)) continue;
        SampledTimes one, others = all;
        one.add(activity.change, least_variance);
        others.add(activity.change, least_variance, -1);
        if (others.sum() <= 0 || others.variance <= 0) continue; // it is the only one
        const double above = sigmas_above(one, others, direction);
        if (above < 0 || rows * probability_above(above) >= least_chance) continue;
        (one.before == 0 || one.after == 0 ? of_one_run : apart) += std::max(0.0, direction * activity.there.difference());
        rest.add(activity.change, least_variance, -1);
    }
    if (rest.before <= 0 || all.before <= 0) return of_one_run + apart;
    // Where other programs share the memory, functions differ, but all are slower. None comes or goes by that.
    const double of_all = direction * (all.after / all.before - 1), of_rest = direction * (rest.after - rest.before);
    const bool is_rest_like_it = of_rest - sigmas_of_error * std::sqrt(std::max(0.0, rest.variance)) > like_the_others * of_all * rest.before;
    return of_one_run + (is_rest_like_it ? 0 : apart);
}

/// Counted instructions differ in the direction of the time, by half as much at least.
bool are_instructions_others(const Change& time, const Change& instructions) {
    if (time.before <= 0 || instructions.before <= 0) return false;
    const double longer = time.difference() / time.before, more = instructions.difference() / instructions.before;
    return more * longer > 0 && std::abs(more) >= like_the_others * std::abs(longer);
}

} // namespace

const char* change_evidence_name(ChangeEvidence which) {
    constexpr const char* names[] = {"none", "calls", "functions", "instructions"};
    return names[static_cast<std::size_t>(which)];
}

ChangeEvidence evidence_of(const GroupComparison& comparison, double sample_ns, const Change& time, const Change& instructions) {
    const double difference = comparison.mean.difference(), direction = difference < 0 ? -1 : 1, needed = least_part * std::abs(difference);
    if (of_calls(comparison, direction) >= needed) return ChangeEvidence::Calls;
    const auto ranks = static_cast<double>(std::max<std::size_t>(1, comparison.ranks_after));
    if (of_functions(comparison, direction, sample_ns / ranks) >= needed) return ChangeEvidence::Functions; // where one rank differs, others may wait for it
    return are_instructions_others(time, instructions) ? ChangeEvidence::Instructions : ChangeEvidence::None;
}

} // namespace libprofile::tools
