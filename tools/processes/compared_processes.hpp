// The processes of a run compared with each other: groups of equal structure, how they differ over the iterations, and which compute longer.
// Contract: plain data; compare_processes() is thread-safe (no state), works on all processors, allocates in proportion to ranks and iterations, and throws
// std::bad_alloc only.
#pragma once

#include "tools/processes/folded_strip.hpp"
#include "tools/processes/imbalance_map.hpp"
#include "tools/processes/process_groups.hpp"
#include "tools/processes/rank_timelines.hpp"
#include "tools/processes/sampled_ranks.hpp"
#include "tools/processes/typical_iteration.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

struct ProcessChoice {
    std::optional<std::uint32_t> phase; // with iterations; empty: the profile has none
    IterationRange iterations;
    std::optional<StructureLevel> level;    // of the groups that are shown; empty: the finest with at most 12 groups
    std::optional<std::uint32_t> reference; // row; empty: the first of the largest group of equal processes
    StateBy state = StateBy::Class;
    std::uint32_t depth = 2; // of functions
    std::size_t cells = 10;  // hot ones
    bool by_samples = true;  // compare traces, where the order of calls is not known
};

/// A hot cell, and where the rank is longer than those near the median.
struct PlacedCell {
    HotCell cell;
    std::string host;
    std::string function; // empty: it is spread over many functions, or chance
    std::string source;
    double function_ns = 0; // an iteration, more than those
    double function_error = 0;
};

struct ComparedProcesses {
    std::vector<const Location*> locations; // rows of groups
    EventPaths events;
    ProcessGroups groups;
    StructureLevel level = StructureLevel::Pairs;          // that is shown
    std::vector<std::optional<StructureParting>> partings; // by shown group: from the first one
    std::optional<std::uint32_t> phase;                    // empty: there are no iterations
    RankStates states;                                     // rows: those with iterations
    std::vector<std::vector<std::uint32_t>> rows_of_group; // of `states`, by shown group
    RankTimelines timelines;
    ImbalanceMap map;
    std::vector<PlacedCell> cells;
    std::optional<TypicalIterations> typical; // rows: those of `states`; only if the order of calls was recorded
    SampledRanks samples;                     // rows: `locations`; of the whole run, where the order of calls is not known

    const std::vector<ProcessGroup>& shown() const { return groups.levels[static_cast<std::size_t>(level)]; }
};

/// The row of a rank that made iterations of the phase; empty if there is none.
std::optional<std::uint32_t> reference_row(const std::vector<const Location*>& locations, std::uint32_t phase, std::uint32_t rank);

/// @param locations null for a rank without data
ComparedProcesses compare_processes(const Profile& profile, const std::vector<const Location*>& locations, const ProcessChoice& choice);

} // namespace libprofile::tools
