// Cuts the bytes of a profile file into blocks whose checksums are right.
// Contract: thread-safe (no state); allocates the list of blocks only; throws ReadError when the bytes are no
// profile file of a version this program knows.
#pragma once

#include "format/profile_file.hpp"
#include "tools/reader/damages.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Why nothing could be read; what() is one sentence for the user.
class ReadError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The oldest version of the format that is read (decode_v3.hpp).
inline constexpr std::uint32_t oldest_version = 3;

using Bytes = std::span<const unsigned char>;

/// The checksum of the format; zlib's is several times faster than the runtime's.
std::uint32_t checksum(Bytes bytes);

/// A block whose checksum is right. `stored` points into the bytes that were given; unpack.hpp makes the payload of it.
struct Block {
    BlockType type;
    std::uint32_t rank;
    Bytes stored;
    std::uint64_t raw_size;
};

struct BlockList {
    FileHeader header;
    std::vector<Block> blocks;
    Damages damages; // without the file's name
};

/// The header of a file.
/// @throws ReadError when it is missing, of another kind or of an unknown version
FileHeader check_header(Bytes bytes);

/// Whether a header and what it says of the payload fit together.
bool is_block(const BlockHeader& header, Bytes stored, std::uint32_t version);

/// Finds the blocks of a file. Where a block is damaged it goes on with the next one that it can find.
/// @param bytes the whole file
/// @throws ReadError when the header is missing, of another kind or of an unknown version
BlockList find_blocks(Bytes bytes);

} // namespace libprofile::tools
