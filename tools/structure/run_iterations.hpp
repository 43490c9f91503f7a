// What all ranks of a run did in each iteration of a phase: by that, iterations of two runs are known to be the same.
// Contract: plain data; run_iterations() is thread-safe (no state), works on all processors, allocates in proportion to iterations and call paths,
// and throws std::bad_alloc only.
//
// Times are kept, but nothing is recognised by them: they are what runs are compared by.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct RunIterations {
    // By iteration. Equal numbers: the same calls in all ranks together, wherever they were made; tests and probes do not count.
    std::vector<std::uint64_t> counts;     // as often, with as many bytes, and as many iterations of phases inside
    std::vector<std::uint64_t> visits;     // as often
    std::vector<std::uint64_t> call_paths; // at all
    std::vector<std::uint64_t> orders;     // by each rank in the same order; 0: not known of all ranks (call_order.hpp)
    // By iteration, means over ranks.
    std::vector<float> calls, bytes, instructions; // instructions: empty if they were not counted
    std::vector<float> time;                       // ns, with the phases inside
    std::size_t ranks = 0;                         // with iterations
    std::uint64_t fewest = 0, most = 0;            // iterations of a rank; only those that all have are here
    bool is_known = true;                          // every iteration has its own values at all ranks; those without are all alike

    std::size_t size() const { return time.size(); }
};

/// @param locations main threads (null for a rank without data)
/// @param key_of_path by call path of the profile; equal keys in two runs are the same call path
RunIterations run_iterations(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase,
                             const std::vector<std::uint32_t>& key_of_path);

} // namespace libprofile::tools
