// Formats that repeat a call path from its outermost function for each value.
// Contract: thread-safe (no state).
#pragma once

#include "tools/export/call_table.hpp"

namespace libprofile::tools {

/// A file grows with the square of the depth there: a chain of a hundred thousand calls, each with a value, would fill a disk.
/// @throws ExportError when all paths together have more than a hundred million functions
void require_short_stacks(const CallTable& table);

} // namespace libprofile::tools
