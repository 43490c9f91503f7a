// Appends blocks of the profile file to a buffer.
// Contract: one thread per buffer; never throws; memory from the buffer only. False: it could not grow, and is as it was.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/output/byte_buffer.hpp"

#include <cstring>

namespace libprofile {

/// Writes one block: `payload` is run twice, to measure and to write.
template <class Payload>
bool write_block(ByteBuffer& buffer, BlockType type, std::uint32_t rank, Payload payload) noexcept {
    Encoder measure(nullptr, 0);
    payload(measure);
    const std::size_t padded = (measure.size() + 7) & ~std::size_t{7};
    unsigned char* place = buffer.append(sizeof(BlockHeader) + padded);
    if (place == nullptr) return false;
    Encoder encoder(place + sizeof(BlockHeader), measure.size());
    payload(encoder);
    BlockHeader header{};
    header.magic = block_magic;
    header.type = static_cast<std::uint32_t>(type);
    header.stored_size = header.raw_size = measure.size();
    header.crc = crc32(place + sizeof(BlockHeader), measure.size());
    header.rank = rank;
    std::memcpy(place, &header, sizeof header);
    return true;
}

} // namespace libprofile
