// The values of call paths over some of a location's iterations.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
//
// What is exact and what is not: the sum over all iterations of a phase is what the profile stores, in integers. A part of
// them is put together from what is known of single iterations (SeriesData) and, for sampled call paths and for iterations that
// were not kept, from the mean of their cluster; then it is an estimate, but its sums over all call paths are those of
// the iterations themselves wherever these were kept.
// Source of the clusters' part: Szebenyi, Wolf, Wylie (SC 2009), section 4: a cluster stands for its iterations.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace libprofile::tools {

/// Iterations from `first` to `last`, both included, counted from 0.
struct IterationRange {
    std::uint64_t first = 0;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
};

/// No bound on the error of a value is known: clusters stand for its iterations.
inline constexpr std::uint64_t no_bound = std::numeric_limits<std::uint64_t>::max();

/// The sum of two bounds.
constexpr std::uint64_t add_bounds(std::uint64_t a, std::uint64_t b) { return a > no_bound - b ? no_bound : a + b; }

/// An exclusive value of a call path over the selected iterations; 0 only with a bound: where small values were coded as none.
struct SelectedCell {
    std::uint32_t path = 0;
    std::uint32_t metric = 0;
    std::uint64_t value = 0;
    bool estimated = false;  // not a sum of measured values
    std::uint64_t bound = 0; // how far an estimate may be off, at most; no_bound: unknown
    bool guessed = false;    // the mean of a cluster is part of it
    bool scaled = false;     // a part of a phase that has one profile for the whole run (inside.hpp)
};

/// All sums over call paths of any iterations are those that were measured: every iteration has its whole values.
bool has_exact_sums(const PhaseData& data);

/// All of a phase: exact. Sorted by path, then metric.
std::vector<SelectedCell> selected_cells(const PhaseData& data);

/// For each range the cells of its iterations, sorted by path, then metric. Reads the series once.
/// @param ranges in ascending order, without overlap; parts after the last iteration count as nothing
std::vector<std::vector<SelectedCell>> selected_cells(const Profile& profile, const PhaseData& data, std::span<const IterationRange> ranges);

/// The same for groups of ranges: each of a group's ranges is part of it, and the group is one selection.
/// @param group_of by range, below `groups`
std::vector<std::vector<SelectedCell>> selected_cells(const Profile& profile, const PhaseData& data, std::span<const IterationRange> ranges,
                                                      std::span<const std::size_t> group_of, std::size_t groups);

/// The cells of consecutive parts of `whole`, which together are exactly the cells of `whole` as one selection: what is divided up may
/// be looked at as a whole again. Where the sums of a part over all call paths are exact they stay so.
/// @param parts as for selected_cells, all that `whole` selects
std::vector<std::vector<SelectedCell>> divided_cells(const Profile& profile, const PhaseData& data, IterationRange whole,
                                                     std::span<const IterationRange> parts);

/// Whether the sums of the cells of these iterations over all call paths are exact: their own values are there.
bool sums_are_exact(const PhaseData& data, IterationRange range);

} // namespace libprofile::tools
