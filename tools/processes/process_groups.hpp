// Which processes have the same structure: what they call, from where, how often, and in which order of iterations. Times play no part.
// Contract: thread-safe (no state); works on all processors; allocates in proportion to the processes and to what is different among them; throws
// std::bad_alloc only.
//
// Processes are not compared with each other: each gets a hash per level, and equal hashes are a group. Each level refines the one before.
// Source: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (TU Dresden, 2016), chapter 4: clusters by pairs of caller and
// callee; the finer levels are ours.
#pragma once

#include "tools/processes/iteration_structures.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace libprofile::tools {

enum class StructureLevel : std::uint8_t {
    Pairs,      // which function calls which, on the way to events
    Paths,      // which call paths there are
    Visits,     // and how often
    Iterations, // and in which iteration
};
inline constexpr std::size_t structure_levels = static_cast<std::size_t>(StructureLevel::Iterations) + 1;

/// "pairs", "paths", "visits", "iterations".
const char* level_name(StructureLevel level);
std::optional<StructureLevel> level_named(std::string_view name);

struct ProcessGroup {
    std::vector<std::uint32_t> rows; // ascending; the first one represents the group
    std::uint32_t within = 0;        // the group of the level before; 0 on the first level
};

struct ProcessGroups {
    std::array<std::vector<ProcessGroup>, structure_levels> levels; // largest first, of equal ones that with the lowest row
    bool are_iterations_known = true;                               // the calls of all; those that were not kept are taken to be alike
};

/// All phases with iterations that one of the locations has.
std::vector<std::uint32_t> iterated_phases(const Profile& profile, const std::vector<const Location*>& locations);

/// @param locations rows; none is null
/// @param known of one phase, if it was read already, for all rows
ProcessGroups group_processes(const Profile& profile, const EventPaths& events, const std::vector<const Location*>& locations,
                              std::optional<std::uint32_t> known_phase = {}, const IterationStructures* known = nullptr);

/// Where two processes part first: on the coarsest level that tells them apart, the outermost call path.
struct StructureParting {
    StructureLevel level = StructureLevel::Pairs;
    std::uint32_t event = 0;           // of EventPaths: the outermost that differs, of several the one that differs most
    std::uint64_t here = 0, there = 0; // visits in the run, or in the iteration
    std::uint64_t events = 0;          // that differ
    std::uint32_t phase = 0;           // Iterations: of which phase
    std::uint64_t iteration = 0;       // Iterations: the first that differs, from 0; one may have ended before it
};

/// Nothing: they are equal on all levels, or only iterations differ of which no more is known.
std::optional<StructureParting> where_they_part(const Profile& profile, const EventPaths& events, const Location& here, const Location& there);

} // namespace libprofile::tools
