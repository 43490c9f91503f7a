// What a profile of another tool has and lacks, in words: the same in every command.
// Contract: thread-safe (no state); allocates its results; throws FrameError, std::bad_alloc.
#pragma once

#include "tools/frames/frame.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// "TAU profiles: 9 call paths, 4 ranks on 2 hosts, 8 threads".
std::string size_words(const Frame& frame);

/// One sentence: what is not read from such a file, so that nothing is said about it.
std::string lack_words(const Frame& frame);

/// The metric that is shown where none is asked for: time, or else the first.
/// @throws FrameError when the frame has none
const FrameColumn& main_column(const Frame& frame);

/// The name of a function without parameters and template arguments; what tools write in place of a name, such as "<unknown file> 0x1a2b", as it is.
std::string short_name(const Frame& frame, std::uint32_t node);

/// It is of MPI, by its name or because the file says so.
bool is_mpi(const Frame& frame, std::uint32_t node);

/// By node: it is of MPI, or below such a one.
std::vector<bool> nodes_in_mpi(const Frame& frame);

} // namespace libprofile::tools
