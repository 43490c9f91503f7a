// Which events each iteration of each rank came to, and how often. Equal iterations share one number, so whole runs are compared by numbers.
// Contract: IterationStructures is plain data; iteration_structures() is thread-safe (no state), works on all processors, allocates 4 bytes per rank and
// iteration and what different iterations need; throws std::bad_alloc only.
//
// Iterations of phases inside belong to it, with what they call; of phases without iterations only how often they are entered is known.
// Where all iterations of a cluster make the same calls (strong equivalence), the cluster tells them; else every iteration's own values do.
#pragma once

#include "tools/processes/event_visits.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

inline constexpr std::uint32_t unknown_structure = 0xffffffff;

struct IterationStructures {
    /// What iterations did that are equal in it.
    struct Structure {
        std::uint64_t hash = 0;
        EventVisits visits; // phases inside count, too; empty beyond the bound of memory
        bool is_kept = true;
    };
    std::vector<Structure> list;                          // by number
    std::vector<std::vector<std::uint32_t>> of_iteration; // by row: numbers, or unknown_structure

    std::uint64_t hash(std::uint32_t number) const { return number == unknown_structure ? 0 : list[number].hash; }
};

/// @param locations rows; none is null, and all have the phase
IterationStructures iteration_structures(const EventPaths& events, const std::vector<const Location*>& locations, std::uint32_t phase);

/// How different two iterations are: events without a partner, as a share of all of both; 0 to 1, or NaN where that is not known.
double dissimilarity(const IterationStructures& structures, std::uint32_t a, std::uint32_t b);

} // namespace libprofile::tools
