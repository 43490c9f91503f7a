// The MPI calls that a rank made at a call site, or in a function called there, as its call tree has them.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// One call path of them.
struct SiteCall {
    std::string function;
    std::uint64_t visits = 0;
};

/// In the loop's phase, by the main thread of `rank`.
std::vector<SiteCall> calls_at(const Profile& profile, const FoundLoop& loop, std::uint64_t offset, std::uint64_t rank);

} // namespace libprofile::tools
