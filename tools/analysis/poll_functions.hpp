// MPI functions whose number of calls is random.
// Contract: thread-safe; allocates a set once; throws std::bad_alloc only.
#pragma once

#include <string_view>

namespace libprofile::tools {

/// Calls that may find nothing (MPI_Test, MPI_Iprobe): how often they are made, and whether at all, is random.
bool is_poll(std::string_view name);

} // namespace libprofile::tools
