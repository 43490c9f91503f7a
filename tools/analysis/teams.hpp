// How the threads of a team share the work of a parallel region of OpenMP: what each does in it, and how long it waits in its barriers.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What one thread did in a region, over all visits, without nested regions.
struct TeamThread {
    std::uint32_t thread = 0;
    std::uint64_t working_ns = 0; // all that is not waiting: computing (told by samples), MPI calls, locks
    std::uint64_t waiting_ns = 0; // in barriers, those at the end of loops and of the region included
    std::uint64_t locks_ns = 0;   // of working_ns: for critical sections, locks, and the turn in ordered loops
    std::uint64_t off_cpu_ns = 0; // of neither: without a processor, outside of waits
    std::uint64_t barriers = 0;   // that it came to
};

/// The threads of one rank.
struct Team {
    std::uint32_t rank = 0;
    std::uint64_t visits = 0;        // of the region
    std::vector<TeamThread> threads; // by number
    std::uint64_t working_ns() const;
    std::uint64_t waiting_ns() const;
};

/// A region at one call path; it is the same on all ranks.
struct TeamRegion {
    std::uint32_t path = 0;       // index into Profile::paths
    std::string function;         // that has the region in it
    std::string source;           // "file:line"; empty if unknown
    std::string caller;           // of that function; empty if unknown
    std::vector<Team> teams;      // by rank
    std::uint64_t waiting_ns = 0; // of all teams
    std::uint64_t time_ns = 0;    // working and waiting
    /// The one that waits most. There is one.
    const Team& worst() const;
};

/// All regions in which more than one thread of a rank took part, by waiting time, longest first.
std::vector<TeamRegion> team_regions(const Profile& profile);

/// Those whose waiting is at least 2 % of the time of all threads that work in regions, three at most, in sentences.
std::vector<std::string> team_sentences(const Profile& profile);

} // namespace libprofile::tools
