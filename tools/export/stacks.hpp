// Call paths written one after the other.
// Contract: thread-safe (no state); allocates its results.
#pragma once

#include "tools/export/call_table.hpp"

#include <vector>

namespace libprofile::tools {

/// All nodes in the order of a walk from the root: a node, then all below it.
std::vector<std::uint32_t> pre_order(const CallTable& table);

/// make_call_table() for formats that repeat a call path from its outermost function for each value: such a file grows with the
/// square of the depth, and a chain of a hundred thousand calls, each with a value, would fill a disk.
/// @param by_location the format does so for each rank and thread
/// @throws ExportError when all paths together have more than a hundred million functions
CallTable make_stack_table(const Profile& profile, const TableChoice& choice, bool by_location = false);

/// The same for viewers of stacks: with short names, and time unless metrics were chosen.
CallTable make_viewer_table(const Profile& profile, TableChoice choice);

} // namespace libprofile::tools
