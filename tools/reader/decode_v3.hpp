// What blocks of files of version 3 hold in another way than those of today.
// Contract: as decode.hpp. A file of version 3 has no Location blocks: its trees say what they would.
#pragma once

#include "tools/reader/raw_records.hpp"

namespace libprofile::tools {

/// A Tree block, which is a location as well. Returns false if it is malformed.
bool decode_tree_v3(Decoder d, RawRank& out);

/// A Phase block, which has its cells inside. Returns false if it is malformed.
bool decode_phase_v3(Decoder d, RawRank& out);

/// A Rank block as it would be today: the fields that came later are 0.
std::vector<unsigned char> rank_payload_of_v3(Bytes payload);

} // namespace libprofile::tools
