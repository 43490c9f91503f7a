// The calls of a typical iteration of all ranks, in order: who makes each, and how often.
// Contract: thread-safe (no state); memory and time as those of the merged tree (structure/merged_tree.hpp); throws std::bad_alloc only. Text of profiles
// is made printable.
#pragma once

#include "tools/processes/compared_processes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

struct MergedCall {
    std::uint64_t depth = 1;
    std::string name;
    MergedClass kind = MergedClass::Same;
    std::vector<std::uint64_t> ranks; // that make it, ascending
    std::uint64_t processes = 0;      // the same, with threads
    std::uint64_t least = 0, most = 0;
};

/// "same", "differs", "not all".
const char* merged_class_name(MergedClass kind);

/// Callers before what they call. Empty: the order of calls was not recorded.
std::vector<MergedCall> merged_calls(const ComparedProcesses& processes);

} // namespace libprofile::tools
