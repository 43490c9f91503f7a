// A module's loops in a CodeLoops block (docs/format.md).
// Contract: thread-safe (no state). decode() believes nothing: loops it returns are no cycle, all positions are good, and what it allocates is in
// proportion to the bytes.
#pragma once

#include "format/codec.hpp"
#include "tools/reader/function_loops.hpp"

namespace libprofile::tools {

void encode(Encoder& to, const ModuleLoops& module);
/// Returns false if it is malformed.
bool decode(Decoder& from, ModuleLoops& module);

} // namespace libprofile::tools
