// Reads the payload of a Series block.
// Contract: the bytes may be anything; what does not fit together is refused, and nothing is allocated beyond a small multiple
// of their size. Throws std::bad_alloc only.
#pragma once

#include "format/profile_file.hpp"
#include "tools/reader/raw_records.hpp"

#include <optional>

namespace libprofile::tools {

/// Empty if it is malformed. A series of another catalogue of metrics comes back without chunks.
std::optional<RawSeries> decode_series(Decoder d);

} // namespace libprofile::tools
