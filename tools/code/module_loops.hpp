// The loops of a program or library, from its file on disk, around sites of a profile.
// Contract: thread-safe (no state). The same file and sites give the same answer. Never runs code of the file. Holds one function at a time; throws
// std::bad_alloc only.
//
// Decisions:
// - Sites of callers are addresses inside the call instruction (format/profile_file.hpp), so they lie in its block.
// - A file that is another build than the one that ran is not used: its addresses mean something else.
// - Loops that the compiler made of one loop of the source are one, where debug information tells (loop_lines.hpp).
// - A function that the compiler has cut is read from its main part, wherever one asks. So its loops have the same headers everywhere.
// - A site is somewhere in the answer even if nothing is known of its loops: then it was looked at, and nobody needs to do so again.
#pragma once

#include "tools/names/symbols.hpp"
#include "tools/reader/function_loops.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct ReadLoops {
    ModuleState state = ModuleState::Missing;
    ModuleLoops loops; // if it is readable
};

/// @param offsets in order, each once
ReadLoops read_loops(const Module& module, const std::vector<std::uint64_t>& offsets);

} // namespace libprofile::tools
