// Assembles what the ranks of a killed job left into one profile file.
// Contract: one thread; allocates in proportion to the bytes on disk; writes profile.lprof in the folder and never overwrites
// anything; throws ReadError with one sentence when that cannot be done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace libprofile::tools {

struct Recovery {
    std::filesystem::path file; // that was written
    std::uint64_t ranks_of_job = 0;
    std::vector<std::uint64_t> live;     // ranks that were killed: what their live file has
    std::vector<std::uint64_t> ended;    // ranks that had come to their end
    std::vector<std::string> not_needed; // files whose data are all in the new one
    std::vector<std::string> left_out;   // files that could not be used and why, one clause each
    std::uint64_t bytes = 0;
};

/// @param folder the job's output folder
/// @throws ReadError when it has a profile already, nothing to recover, or no room; and while a rank runs on this machine
Recovery recover(const std::filesystem::path& folder);

} // namespace libprofile::tools
