// What a job was, in one line: the head of the text report and of the page.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/reader/model.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// "2 ranks on vm, Open MPI v4.1.4, started 2026-11-21 19:04:13, ran 43.5 s"; the time is that of this machine's zone.
/// @param locations main threads (null for a rank without data): the longest tells how long the job ran
std::string job_line(const Profile& profile, const std::vector<const Location*>& locations);

} // namespace libprofile::tools
