// The call tree by function with the values of a selection: of some ranks, iterations, metrics and call paths.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. All sums are integers and equal those of the
// exports of the same selection.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/sample_strata.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/analysis/totals.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A sum of values and what is known about its error.
struct SelectedValue {
    std::uint64_t value = 0;
    bool estimated = false;
    std::uint64_t bound = 0; // of what is not sampled; see SelectedCell
    SampledParts parts = {}; // what samples shared out over call paths, by SelectedTree::strata

    void add(const SelectedValue& more);
};

/// Whether a row of metric_rows is known where some time is untold: the time itself.
inline bool is_known(const MetricRow& row, std::uint64_t untold) { return untold == 0 || row.name == "time"; }

/// What is selected.
struct TreeChoice {
    static constexpr std::uint32_t all_phases = std::numeric_limits<std::uint32_t>::max();

    std::vector<const Location*> locations; // none is null
    std::uint32_t phase = all_phases;
    IterationRange iterations;       // of the phase
    bool exclusive = false;          // without the phases inside them
    std::vector<std::size_t> rows;   // of metric_rows: those that nodes get; never empty
    std::vector<std::size_t> totals; // of metric_rows: those that are summed up
};

/// The values of a selection.
struct SelectedTree {
    std::vector<std::vector<SelectedValue>> exclusive;   // by node of the tree, then metric
    std::vector<std::vector<SelectedValue>> inclusive;   // by node, then metric
    std::vector<SelectedValue> totals;                   // by metric of TreeChoice::totals, over the nodes that count
    std::vector<std::vector<std::uint64_t>> by_location; // by location, then metric of TreeChoice::totals
    std::vector<std::vector<std::uint64_t>> own;         // by location, then node: exclusive, of the first metric
    std::uint64_t time = 0;                              // ns: of the selection, whatever call paths were chosen
    std::uint64_t untold = 0;                            // ns: in phases inside the iterations, of which nothing else is known (inside.hpp)
    std::vector<std::uint64_t> untold_by_location;
    std::uint64_t sampled = 0;         // ns: of this what samples shared out
    std::vector<SampleStratum> strata; // of the samples that did
    std::uint64_t iterations = 0;      // of the location with most of them; 0 where none were chosen
    std::uint64_t instances = 0;       // iterations, summed over locations
    bool exact_sums = true;            // the sums over all call paths are measured, not estimated
    bool exact_times_only = false;     // of these, sums of time alone: phases without iterations lie inside
};

/// The tree of functions that selections of these locations share.
struct FunctionTree {
    std::vector<FunctionNode> nodes;
    std::vector<std::uint32_t> node_of_path;
    std::vector<std::uint32_t> depth; // by node: how many are above it, without the root
    std::vector<bool> counts;         // by node: it is in a call path that was asked for
    std::size_t matches = 0;          // nodes that `path` was found in
};

/// @param path call paths that have this text in the name or file of a function, upper and lower case alike, and what is below;
///   empty: all
FunctionTree make_function_tree(const Profile& profile, const std::vector<const Location*>& locations, bool fold_interpreter, const std::string& path);

/// Works on several locations at a time where the machine has the processors.
SelectedTree select_tree(const Profile& profile, const FunctionTree& tree, const TreeChoice& choice);

} // namespace libprofile::tools
