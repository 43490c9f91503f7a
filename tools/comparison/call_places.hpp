// Where calls of MPI and waits are made in the source: a frame of a profile has a node for a function, whatever its lines.
// Contract: thread-safe (no state); allocates; throws ExportError, std::bad_alloc.
#pragma once

#include "tools/export/call_table.hpp"
#include "tools/frames/frame.hpp"

#include <string_view>

namespace libprofile::tools {

/// A call, as nodes of this kind are, has the place where it is made, and no function of the program has.
inline bool is_call(std::string_view kind) { return kind == "mpi" || kind == "openmp" || kind == "other"; }

/// Gives the nodes of a frame that are no functions of the program file and line of the call with most time.
/// @param frame of a call table of this choice
void set_call_places(Frame& frame, const Profile& profile, TableChoice choice);

} // namespace libprofile::tools
