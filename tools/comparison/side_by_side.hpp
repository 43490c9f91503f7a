// Groups of runs side by side in trees: call paths, functions with their callers, kinds of time, modules, ranks.
// Contract: thread-safe (no state); allocates in proportion to nodes and kept rows; throws std::bad_alloc only.
//
// Values are means over ranks and runs, and differences are those of the comparison of two groups (interval.hpp).
#pragma once

#include "tools/comparison/interval.hpp"
#include "tools/comparison/run.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What a row is called.
struct SideLabel {
    std::string name;
    std::string full_name; // of a function, as the profile has it; else empty
    std::string place;     // "cg.cpp:210", a host; empty if unknown
};

/// A parent stands before its children.
struct SideRow {
    std::int64_t parent = -1;
    SideLabel label;
    std::vector<Change> changes; // by group, from the second one on: against the first
};

struct SideTree {
    std::string name; // "paths", "callers", "kinds", "modules", "ranks"
    std::vector<SideRow> rows;
    std::size_t left_out = 0; // rows too small to be kept
    bool is_cut = false;      // what is deeper than its rows is not there
};

struct SideLimits {
    double share = 1e-4;       // of the largest group: rows that have less of every group are left out, with what is below them
    std::size_t rows = 40'000; // of a tree: no further level is begun
    std::size_t levels = 200;  // of a tree
};

/// @param groups at least two, with the same nodes (compare_groups())
/// @return trees; that of ranks is empty if the runs have different ones
std::vector<SideTree> side_by_side(const std::vector<RunGroup>& groups, const std::string& metric, const SideLimits& limits = {});

} // namespace libprofile::tools
