// How the durations of calls go with an amount, such as their bytes: series of pairs, and the straight line through them.
// Contract: plain data; functions without state; allocate in proportion to the calls; throw std::bad_alloc only.
//
// A series is of any calls or tasks and any amount of theirs; what has counters at its borders gets a series for each of them.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeline/passing_events.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

struct DurationSeries {
    bool is_of_tasks = false;             // else of calls
    std::string group;                    // the function
    std::optional<std::uint32_t> rank;    // that called it; none: all
    std::optional<std::uint32_t> partner; // the rank of MPI_COMM_WORLD with which all messages of each call were exchanged; none: all calls
    std::string amount, unit;             // "bytes", "bytes"; a counter and its unit
    std::vector<double> durations_ns, amounts;
};

/// The calls of MPI with messages in the chosen parts that pass, and the bytes that each sent and received: for each function, then for each pair of ranks
/// of its messages if there are several. The function with the longest sum of durations first.
std::vector<DurationSeries> bytes_of_calls(const Profile& profile, std::span<const std::uint32_t> ranks, const std::function<bool(const EventPart&)>& is_chosen,
                                           const PassingEvents& passing);

/// The line of least squares: duration = intercept + slope x amount.
struct DurationFit {
    std::uint64_t count = 0;
    double time_ns = 0; // the sum of durations
    double least = 0, most = 0;
    double pearson = 0; // NaN if all amounts or all durations are the same
    double r_squared = 0;
    double slope_ns = 0; // by unit; NaN if there is no line
    /// 1.96 standard errors of the slope, by what the line leaves over: with many calls half of the 95 % interval. NaN with fewer than 3.
    double slope_error_ns = 0;
    double intercept_ns = 0;
};
DurationFit duration_fit(const DurationSeries& series);

} // namespace libprofile::tools
