// Decompresses the payloads of blocks.
// Contract: an Unpacker belongs to one thread and one file; what it gives is valid until the next call. Allocates no more than
// the format allows for the bytes that are really there; throws std::bad_alloc only.
#pragma once

#include "tools/reader/blocks.hpp"

#include <optional>
#include <vector>

namespace libprofile::tools {

class Unpacker {
  public:
    /// @param file_size bytes of the file: what its blocks may hold all together depends on it
    explicit Unpacker(std::uint64_t file_size) : left_(most_always + most_per_byte * file_size) {}

    /// Empty if the block is damaged, or claims to hold more than is plausible.
    std::optional<Bytes> unpack(const Block& block);

  private:
    static constexpr std::uint64_t most_always = 64u << 20;
    static constexpr std::uint64_t most_per_byte = 16;
    std::uint64_t left_;
    std::vector<unsigned char> buffer_;
};

} // namespace libprofile::tools
