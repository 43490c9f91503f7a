// Reads Events blocks (format/events.hpp).
// Contract: as for decode.hpp: false for bytes that make no sense; throws std::bad_alloc only.
#pragma once

#include "tools/reader/raw_records.hpp"

namespace libprofile::tools {

/// Paths are node ids of the file, phases numbers of the main thread's phases.
bool decode_events(Decoder d, RawRank& out);

} // namespace libprofile::tools
