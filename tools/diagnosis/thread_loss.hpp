// Time that ranks lose because the threads of their OpenMP teams have unequal work, or none, or wait for locks.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/cause.hpp"

#include <vector>

namespace libprofile::tools {

struct ThreadLoss {
    Cause cause = Cause::UnequalThreads;
    Gain gain;              // ns of the run
    std::uint32_t rank = 0; // the one that has most to do: others wait for it
    std::size_t threads = 0;
    bool is_in_turn = false; // UnequalThreads: now one has more and now another, so that their sums are equal
    std::uint32_t path = 0;  // of the region; 0: SerialThreads
    std::string function;    // that has the region in it
    std::string source;
    std::string caller;
    std::uint32_t busiest = 0; // UnequalThreads: thread that works most
    double busiest_ns = 0, mean_ns = 0;
    double wait_ns = 0; // of a thread of the team, on average: in barriers and for locks
    double idle_ns = 0; // SerialThreads: of one worker thread between regions, while the main thread is not in MPI
};

/// Largest gain first. @param least_sum ns of the run
std::vector<ThreadLoss> thread_losses(const Profile& profile, double least_sum);

} // namespace libprofile::tools
