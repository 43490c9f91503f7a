// Ranks that had fewer processors than threads that work, by what the kernel allowed them: then some of these always stand still.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/run_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

struct Crowd {
    std::vector<std::uint32_t> ranks; // in order
    std::string host;
    std::vector<std::uint32_t> processors; // that they might use, in order
    std::size_t threads = 0;               // that work
};

/// Those with the same processors, or all of a machine.
std::vector<Crowd> crowds(const Profile& profile);

/// The one that has all of the ranks; null if there is none. No ranks: all of the job.
const Crowd* crowd_of(const std::vector<Crowd>& crowds, const std::vector<std::uint32_t>& ranks, const Profile& profile);

/// What the run would gain if its ranks were never off the processor outside of MPI, and the rank that is then longest.
std::pair<std::uint32_t, Gain> gain_without_crowd(const Profile& profile, const Crowd& crowd);

/// "1 processor of node3 (number 5)".
std::string processors_text(const Crowd& crowd);

} // namespace libprofile::tools
