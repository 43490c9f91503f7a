// Reads Pages blocks (format/pages.hpp).
// Contract: as for decode.hpp: false for bytes that make no sense; throws std::bad_alloc only.
#pragma once

#include "format/codec.hpp"
#include "tools/reader/page_nodes.hpp"

#include <optional>

namespace libprofile::tools {

/// `out` must be empty: a rank has one block.
bool decode_pages(Decoder d, std::optional<PageNodes>& out);

} // namespace libprofile::tools
