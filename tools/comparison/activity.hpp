// The rows in which runs are compared: functions that compute, and calls that wait or write, each with the function that makes them.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/time_use.hpp"
#include "tools/frames/frame.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

inline constexpr const char* other_callers = "(other callers)";

/// Nodes of a call tree that are one row: "spmv", "MPI_Allreduce in cg_solve".
struct Activity {
    TimeUse use = TimeUse::Computing;
    std::string name;       // short (short_function_name())
    std::string caller;     // of a call that does not compute: the first function above that does; else empty
    std::string file;       // of the function, or of the caller; empty if unknown
    std::uint32_t line = 0; // 0 if unknown
    std::uint32_t node = 0; // one of its nodes
    std::string below;      // of a part of a function (callers_apart.hpp): the function it is called by, or other_callers; else empty
};

struct Activities {
    std::vector<Activity> list;
    std::vector<std::uint32_t> of_node; // index into `list`
};

/// Of a node's function: short, without what compilers append to copies (matching_name.hpp).
std::string name_in_all_builds(const Frame& tree, std::uint32_t node);

/// Functions are the same if their names, without what compilers append, and the names of their files are.
Activities activities_of(const Frame& tree);

/// "MPI_Allreduce in cg_solve (cg.cpp:210)", "spmv (cg.cpp:88) called by cg_solve"; printable.
std::string activity_text(const Activity& activity);

/// "main > solve > MPI_Allreduce", printable.
std::string path_text(const Frame& tree, std::uint32_t node);

} // namespace libprofile::tools
