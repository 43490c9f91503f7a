// What tells the iterations of a suspect from those that they are compared with: functions, waiting, calls and bytes.
// Contract: thread-safe (no state); allocates; reads the series of at most 16 ranks; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/file_waits.hpp"
#include "tools/diagnosis/hot_function.hpp"
#include "tools/diagnosis/suspect.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Time of an MPI function and its caller; ns per iteration and rank.
struct SpotDifference {
    std::uint32_t spot = 0;
    double here = 0;
    double there = 0;
    std::uint32_t path = 0; // where the difference is largest
    double difference() const { return here - there; }
};

/// Means per iteration and rank: here, in the suspect's iterations, and there, in those they are compared with; of `function` what it says itself.
struct Evidence {
    bool compares_ranks = false;                           // there: other ranks, in the same iterations; else the same ranks in others
    double local_here = 0, local_there = 0;                // ns: what ranks do themselves
    double expected = 0;                                   // ns: excess that the suspect has here, less that there
    double off_cpu = 0, file_io = 0, threads = 0, mpi = 0; // ns: differences
    double mpi_there = 0;                                  // ns
    double io = 0;                                         // ns: difference in input and output functions and MPI files
    double calls_here = 0, calls_there = 0;
    double bytes_here = 0, bytes_there = 0;
    double received_here = 0, received_there = 0; // bytes, of messages and collective calls
    double received_by_others = 0;                // bytes: the other ranks, in the suspect's iterations
    FileWait files;                               // told if most of the excess is off the processor
    HotFunction function;
    std::vector<SpotDifference> mpi_of_all; // what is more here, in MPI; largest first
    std::vector<SpotDifference> waits;      // MPI of the other ranks in the suspect's iterations, beyond that of its own ranks; largest first
    double coupling = 0;                    // how much of the expected waiting the others were seen with; 0 to 1
    bool is_root = false;                   // the suspect's rank is the root of the collective that the others wait in
    std::uint64_t waiting_ranks = 0;        // that were seen to wait for half of the excess or more
    double odds_of_one_factor = 1;          // that all functions are longer by the same factor, against more work in one of them
    double factor = 1;
    double instructions_here = 0, instructions_there = 0; // 0: not counted
    bool same_calls() const;
    bool instructions_known() const { return instructions_here > 0 && instructions_there > 0; }
    double excess() const { return local_here - local_there; }
    bool has_more_bytes() const { return bytes_here > 1.1 * bytes_there; }
    /// What the additional bytes would take at the rate of the others, in ns; 0 if they have none.
    double time_of_more_bytes() const { return bytes_there <= 0 ? 0 : std::max(0.0, bytes_here / bytes_there - 1) * mpi_there; }
    /// The excess is hardly sleep, files or threads.
    bool is_mostly_computing() const;
};

/// @param all_suspects of the same iterations, `suspect` among them or not
Evidence evidence_of(const Profile& profile, const IterationMatrix& matrix, const Suspect& suspect, const NamedSpots& names,
                     const std::vector<Suspect>& all_suspects);

} // namespace libprofile::tools
