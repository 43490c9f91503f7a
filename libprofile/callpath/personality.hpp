// The language whose rules a function follows when an exception passes it: derived from the module of its personality routine.
// Contract: async-signal-safe, no lock, no allocation; reads only readable segments of loaded modules.
#pragma once

#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

/// Returns true if the entry's personality routine is not that of C and C++ in shared libstdc++ or libgcc_s. One that was linked
/// into the program counts as foreign: its language is unknown.
bool has_foreign_personality(const UnwindEntry& entry) noexcept;

} // namespace libprofile
