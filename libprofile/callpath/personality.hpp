// Whose rules a function follows when an exception passes it: told by the module its personality routine lies in.
// Contract: async-signal-safe, no lock, no allocation; reads only readable segments of loaded modules.
#pragma once

#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

/// Whether the entry's personality routine is another than that of C and C++ (in shared libstdc++ or libgcc_s). One that
/// was linked into the program is foreign too: nothing tells which language it is of.
bool has_foreign_personality(const UnwindEntry& entry) noexcept;

} // namespace libprofile
