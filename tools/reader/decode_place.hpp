// Decodes a Place block (format/place.hpp).
// Contract: as decode.hpp.
#pragma once

#include "format/codec.hpp"
#include "tools/reader/model.hpp"

#include <optional>

namespace libprofile::tools {

/// False: malformed, or the rank has one already.
bool decode_place(Decoder d, std::optional<RankPlacing>& out);

} // namespace libprofile::tools
