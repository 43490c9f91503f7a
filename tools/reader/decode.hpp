// Decodes the blocks of one file into records with the numbers of that file (module, function and node ids,
// metric positions); unify.hpp turns them into those of the whole job.
// Contract: thread-safe (no state). Allocates in proportion to the bytes it is given, never from a count it has not
// bounded by them. Damaged blocks are left out and named in `damages`; throws std::bad_alloc only.
#pragma once

#include "tools/reader/raw_records.hpp"
#include "tools/reader/unpack.hpp"

namespace libprofile::tools {

/// Decodes one block into the file's records; if it is damaged it is among the damages.
void decode_block(const Block& block, std::uint32_t version, Unpacker& unpacker, RawFile& file);

/// Decodes one file.
/// @param bytes the whole file
/// @param name the file's name for messages
/// @throws ReadError when it is no profile file (see find_blocks)
RawFile decode_file(Bytes bytes, const std::string& name);

} // namespace libprofile::tools
