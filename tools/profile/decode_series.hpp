// Reads the payload of a Series block.
// Contract: the bytes may be anything; what does not fit together is refused, and nothing is allocated beyond a small multiple
// of their size. Throws std::bad_alloc only.
#pragma once

#include "format/profile_file.hpp"
#include "tools/profile/series.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace libprofile::tools {

struct RawSeries {
    std::uint32_t thread = 0;
    std::string phase;
    SeriesData data; // paths are node ids of the file
};

/// Nothing: malformed. A series of another catalogue of metrics comes back without chunks.
std::optional<RawSeries> decode_series(Decoder d);

} // namespace libprofile::tools
