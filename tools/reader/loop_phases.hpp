// Makes one phase of a loop that was found (LIBPROFILE_ITERATION=auto), though ranks begin their passes at different call sites of it.
// Contract: one call for a profile that has just been put together; allocates; throws std::bad_alloc only.
//
// A rank names the phase of a loop after the call site where its passes begin, and chooses that by itself. Phases that are named alike are
// one. Two others are one loop if no rank has both, the function of the loop is the same and is called on the same call path, and they ran
// at the same time: for more than half of the shorter one. Loops of a rank that follow each other in one function never overlap.
#pragma once

#include "tools/reader/model.hpp"

namespace libprofile::tools {

/// The phase has the name that most ranks gave it; all are in Phase::recorded_as. Sets Phase::is_frame, too.
void unite_loops(Profile& profile);

/// Phase `phase` and the loops that it was made of are called `name` from now on.
void rename_loop_phase(Profile& profile, std::uint32_t phase, const std::string& name);

} // namespace libprofile::tools
