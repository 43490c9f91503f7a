// Whether the job that wrote a folder still runs: by its files, and by the processes of its ranks on this machine.
// Contract: thread-safe (no state); reads the folder's names and /proc; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <filesystem>

namespace libprofile::tools {

enum class JobState : std::uint8_t {
    Ended,   // it wrote its profile
    Running, // a rank runs on this machine
    Gone,    // none of its ranks does, and there is no profile of the whole job
    Unknown  // ranks are on other machines
};

/// Stable key: "ended", "running", "killed", "unknown".
const char* job_state_name(JobState state);

/// Whether a profile of the whole job is there, which is so once all ranks have ended.
/// @param path the folder, or one profile file
bool has_whole_profile(const std::filesystem::path& path);

/// Whether a process of this machine is a rank that writes into the folder: it has libprofile or a file of the folder mapped. Its number alone
/// may be that of another process by now. Of a process that may not be looked at, its user decides.
bool is_living_rank(std::uint64_t pid, const std::filesystem::path& folder);

/// By the ranks, without looking for the whole profile.
JobState state_of_ranks(const Profile& profile, const std::filesystem::path& folder);

/// The name of this machine as ranks record it; empty if it cannot be known.
std::string host_name();

} // namespace libprofile::tools
