// Decodes a Topology block (format/topology.hpp).
// Contract: as decode.hpp.
#pragma once

#include "format/codec.hpp"
#include "tools/reader/model.hpp"

#include <optional>

namespace libprofile::tools {

/// Returns false if it is malformed, or the rank has one already.
bool decode_topology(Decoder d, std::optional<RankAffinity>& out);

} // namespace libprofile::tools
