// MPI functions that work without other ranks: packing, datatypes, reducing what is there already. To a diagnosis their time is computing, since nobody
// waits for anybody in them.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// What the time of a call path is booked under; of such functions TimeCategory::Compute.
TimeCategory work_category(const Profile& profile, const CallPath& path);

/// ns in such functions.
double own_work_in_mpi(const Profile& profile, const Location& location);

/// The same by iteration, with what lies inside; empty if it is too little of the location's time to matter.
/// @param first the number of the first iteration, from 0
std::vector<double> own_work_in_mpi(const Profile& profile, const Location& location, const PhaseData& data, std::uint64_t first, std::size_t iterations);

} // namespace libprofile::tools
