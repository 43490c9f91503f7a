// What a thread does in a node of a call tree: it computes, waits for others, reads and writes files, and so on.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
//
// Known by the names of functions (tools/timeseries/function_class.hpp, tools/names/waiting.hpp), so for profiles of all tools. What is called
// inside such a function is of its kind, too, unless it is a function of the program that MPI calls back.
#pragma once

#include "tools/frames/frame.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

enum class TimeUse : std::uint8_t {
    Computing,
    Waiting,     // for other ranks, threads, locks, time to pass
    Mpi,         // calls of MPI in which nobody waits for others
    OpenMp,      // beginning and ending parallel regions
    InputOutput, // of files
    OffCpu,      // without a processor, nobody knows why
    Measuring,   // inside libprofile
    NotRecorded,
};
inline constexpr std::size_t time_use_count = static_cast<std::size_t>(TimeUse::NotRecorded) + 1;

/// "computing", "waiting", "MPI", "OpenMP", "I/O", "off CPU", "libprofile", "not recorded".
const char* time_use_name(TimeUse kind);

/// By node.
std::vector<TimeUse> time_uses(const Frame& frame);

} // namespace libprofile::tools
