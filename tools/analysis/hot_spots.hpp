// Which functions time is spent in, and on which call paths.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/sample_strata.hpp"
#include "tools/reader/model.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// Call paths with the same end: a function of the application with any callers, an MPI function together with the
/// function that calls it, "(off CPU)" together with the function that it was in, or one of the runtime's own nodes.
struct Spot {
    NodeKind kind = NodeKind::Frame;
    std::string name;    // short function name
    std::string caller;  // MPI functions: the first calling function that is no mere wrapper (wrappers.hpp); "(off CPU)": the function, if known
    std::string through; // the wrappers between; empty if there are none
    std::string source;  // "file:line": of the hottest line, or of the call
};

/// The spot that every call path belongs to.
struct SpotTable {
    std::vector<Spot> spots;
    std::vector<std::uint32_t> of_path; // index into `spots` by call path
};
SpotTable spot_table(const Profile& profile);

/// "exchange", "solve (through global_sum)"; empty without a caller.
std::string caller_text(const std::string& caller, const std::string& through);
/// "solver.c:12 in solve (through global_sum)", or the known part of it.
std::string where_text(const std::string& source, const std::string& caller, const std::string& through);

/// "MPI_Waitall in exchange".
std::string spot_text(const Spot& spot);

/// Exclusive time of a spot.
struct HotSpot {
    std::uint32_t spot = 0;
    double total = 0;                // ns, over all locations
    std::vector<double> by_location; // ns
};

/// All spots with time, hottest first. Null locations count as 0 and keep their index.
/// Fills in the hottest line as the source of each function in `table`.
std::vector<HotSpot> hot_spots(const Profile& profile, const std::vector<const Location*>& locations, SpotTable& table);

/// What is known of the errors of spots.
struct SpotErrors {
    std::vector<SampleStratum> strata;
    std::vector<SampledParts> parts; // by spot of the table

    /// ns over all locations; 0 if exact.
    double of(const HotSpot& spot) const { return parts[spot.spot].empty() ? 0 : sampling_error(parts[spot.spot], strata); }
    /// Their order may be chance.
    bool is_order_open(const HotSpot& a, const HotSpot& b) const;
};
SpotErrors spot_errors(const Profile& profile, const std::vector<const Location*>& locations, const SpotTable& table);

/// A node of the call tree by function: call sites in the same function and recursive calls are folded, and what the
/// system runs before main() is left out.
struct FunctionNode {
    int parent = -1; // index; parents come first
    NodeKind kind = NodeKind::Root;
    std::string name;
    std::string source;   // "file:line" of the call site (or own line) with the most time
    double exclusive = 0; // ns, over all locations
    double inclusive = 0;
    double visits = 0;
    bool interpreter = false;            // frames of an interpreter, folded into one node
    std::vector<std::uint32_t> children; // by inclusive time, largest first
};

/// Node 0 is the root.
/// @param fold_interpreter adjacent frames of an interpreter are one node, "(Python interpreter)"; those that a Python function leads to are part
///   of that function
/// @param node_of_path if not null, gets the node that the values of each call path belong to
/// @param with_tasks call paths of tasks in kept events have nodes even if they have no values
std::vector<FunctionNode> function_tree(const Profile& profile, const std::vector<const Location*>& locations, bool fold_interpreter = true,
                                        std::vector<std::uint32_t>* node_of_path = nullptr, bool with_tasks = false);

} // namespace libprofile::tools
