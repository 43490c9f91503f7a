// Time that ranks lose because the threads of their OpenMP teams have unequal work, or none.
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
    std::uint32_t path = 0; // UnequalThreads: of the region
    std::string function;   // that has the region in it
    std::string source;
    std::string caller;
    std::uint32_t busiest = 0; // UnequalThreads: thread that works most
    double busiest_ns = 0, mean_ns = 0;
    double idle_ns = 0; // SerialThreads: of one worker thread between regions, while the main thread is not in MPI
};

/// Largest gain first. @param least_sum ns of the run
std::vector<ThreadLoss> thread_losses(const Profile& profile, double least_sum);

} // namespace libprofile::tools
