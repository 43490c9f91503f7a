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

/// Of the difference, what calls have that were not made before, or more often, or with more bytes: ns in `direction`.
double of_calls(const GroupComparison& comparison, double direction) {
    double sum = 0;
    for (const ActivityChange& one : comparison.activities) {
        const ChangeClass which = change_class(one);
        if ((which != ChangeClass::OtherCalls && which != ChangeClass::Work) || is_poll(one.activity.name)) continue;
        const double sure = std::min(1.0, std::max(relative_change(one.visits), relative_change(one.bytes)) / certain_ratio);
        sum += std::max(0.0, direction * one.change.difference()) * sure;
    }
    return sum;
}

bool is_of_a_function(const PathChange& path) { return path.use == TimeUse::Computing && path.change.error > 0; }

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

/// Of the difference, what functions have that differ more than all others: ns in `direction`.
double of_functions(const GroupComparison& comparison, double direction, double least_variance) {
    double files = 0, rows = 0;
    SampledTimes all;
    for (const PathChange& path : comparison.paths) {
        if (path.use == TimeUse::InputOutput) files += std::max(0.0, direction * path.change.difference());
        if (!is_of_a_function(path)) continue;
        all.add(path.change, least_variance);
        ++rows;
    }
    double apart = 0;
    SampledTimes rest = all;
    for (const PathChange& path : comparison.paths) {
        if (!is_of_a_function(path)) continue;
        SampledTimes one, others = all;
        one.add(path.change, least_variance);
        others.add(path.change, least_variance, -1);
        if (others.before <= 0 || others.after <= 0) continue;
        const double above = sigmas_above(one, others, direction);
        if (above < 0 || rows * probability_above(above) >= least_chance) continue;
        apart += std::max(0.0, direction * path.change.difference());
        rest.add(path.change, least_variance, -1);
    }
    // Where other programs share the memory, functions differ, but all are slower.
    const double of_all = direction * (all.after / all.before - 1), of_rest = direction * (rest.after - rest.before);
    const bool is_rest_like_it =
        rest.before > 0 && of_rest - sigmas_of_error * std::sqrt(std::max(0.0, rest.variance)) > like_the_others * of_all * rest.before;
    return files + (is_rest_like_it ? 0 : apart);
}

} // namespace

const char* change_evidence_name(ChangeEvidence which) {
    constexpr const char* names[] = {"none", "calls", "functions"};
    return names[static_cast<std::size_t>(which)];
}

ChangeEvidence evidence_of(const GroupComparison& comparison, double sample_ns) {
    const double difference = comparison.mean.difference(), direction = difference < 0 ? -1 : 1, needed = least_part * std::abs(difference);
    if (of_calls(comparison, direction) >= needed) return ChangeEvidence::Calls;
    // For a single rank, too, all others wait: its part of the mean is small.
    const auto ranks = static_cast<double>(std::max<std::size_t>(1, comparison.ranks_after));
    return of_functions(comparison, direction, sample_ns / ranks) * ranks >= needed ? ChangeEvidence::Functions : ChangeEvidence::None;
}

} // namespace libprofile::tools
