// Libraries of other tools that wrap MPI functions, as far as they were met.
// Contract: thread-safe, never allocates.
#pragma once

#include <link.h>

namespace libprofile::other_tools {

/// False when the table is full: a tool that is not known then is taken for part of the MPI library.
bool remember(const link_map* module);
bool is_known(const link_map* module);

} // namespace libprofile::other_tools
