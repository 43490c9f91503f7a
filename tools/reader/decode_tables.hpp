// Decodes the lists that blocks and journals have in common.
// Contract: as decode.hpp.
#pragma once

#include "tools/reader/raw_records.hpp"

#include <map>

namespace libprofile::tools {

/// Reads a count of records of at least `smallest` bytes each; false when they cannot all be there.
bool read_count(Decoder& d, std::uint64_t& count, std::size_t smallest);

/// The nodes of a Tree block, after its record. Returns false if they are malformed.
bool decode_nodes(Decoder& d, RawTree& tree);

/// The list of a Functions block, also of a journal. Returns false if it is malformed.
bool read_functions(Decoder& d, std::map<std::uint64_t, Function>& functions);

} // namespace libprofile::tools
