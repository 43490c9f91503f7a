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

/// Of the difference, what functions have that differ more than all others: ns in `direction`.
double of_functions(const GroupComparison& comparison, double direction) {
    double before = 0, after = 0, rows = 0, sum = 0;
    for (const PathChange& path : comparison.paths) {
        if (path.use == TimeUse::InputOutput) sum += std::max(0.0, direction * path.change.difference());
        if (!is_of_a_function(path)) continue;
        before += path.change.before;
        after += path.change.after;
        ++rows;
    }
    if (before == 0 || after == 0) return sum;
    const double alike = after / before; // if the machine is the cause
    for (const PathChange& path : comparison.paths) {
        if (!is_of_a_function(path)) continue;
        const Change& change = path.change;
        // The error is that of both runs' samples, whose variance is in proportion to the time.
        const double variance = change.error * change.error / (sigmas_of_error * sigmas_of_error), share = change.before / (change.before + change.after);
        const double sigma = std::sqrt(variance * (1 - share + alike * alike * share));
        const double above = direction * (change.after - alike * change.before) / sigma;
        if (above > 0 && rows * std::erfc(above / std::sqrt(2)) / 2 < least_chance) sum += std::max(0.0, direction * change.difference());
    }
    return sum;
}

} // namespace

const char* change_evidence_name(ChangeEvidence which) {
    constexpr const char* names[] = {"none", "calls", "functions"};
    return names[static_cast<std::size_t>(which)];
}

ChangeEvidence evidence_of(const GroupComparison& comparison) {
    const double difference = comparison.mean.difference(), direction = difference < 0 ? -1 : 1, needed = least_part * std::abs(difference);
    if (of_calls(comparison, direction) >= needed) return ChangeEvidence::Calls;
    // For a single rank, too, all others wait: its part of the mean is small.
    const auto ranks = static_cast<double>(std::max<std::size_t>(1, comparison.ranks_after));
    return of_functions(comparison, direction) * ranks >= needed ? ChangeEvidence::Functions : ChangeEvidence::None;
}

} // namespace libprofile::tools
