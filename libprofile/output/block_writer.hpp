// A section of a profile file in the making: its blocks, one after the other, and what its directory will say of them.
// Contract: one thread; never throws; memory from ByteBuffer. False: it could not grow, and is as it was.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/output/byte_buffer.hpp"
#include "libprofile/output/compressor.hpp"

#include <cstring>

namespace libprofile {

/// What a block is about.
struct BlockKey {
    BlockType type;
    std::uint32_t rank = no_rank;
    std::uint64_t thread = 0;
    std::uint64_t phase = 0;  // number + 1; 0: of none
    std::uint64_t metric = 0; // position + 1; 0: of none
    bool plain = false;       // never compressed: jobs read it, too
};

class BlockBuffer {
  public:
    const unsigned char* data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size(); }

    /// Bytes that are no block: the file header.
    bool append(const void* bytes, std::size_t count) noexcept {
        unsigned char* place = bytes_.append(count);
        if (place != nullptr) std::memcpy(place, bytes, count);
        return place != nullptr;
    }

    /// `payload` is run twice, to measure and to write.
    template <class Payload> bool write(const BlockKey& key, Payload payload) noexcept {
        Encoder measure(nullptr, 0);
        payload(measure);
        const std::size_t size = measure.size();
        unsigned char* place = bytes_.append(sizeof(BlockHeader) + padded(size));
        if (place == nullptr) return false;
        Encoder encoder(place + sizeof(BlockHeader), size);
        payload(encoder);
        return close(key, place, size);
    }

    /// The Directory block of all blocks so far. `at`, `stored`: where it is in the section, with its header.
    bool write_directory(std::uint32_t rank, std::uint64_t& at, std::uint64_t& stored) noexcept;

  private:
    static std::size_t padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }
    /// Compresses the payload behind `place`, writes the header there and notes the block.
    bool close(const BlockKey& key, unsigned char* place, std::size_t size) noexcept;

    ByteBuffer bytes_;
    ByteBuffer entries_; // DirectoryEntryRecord, with the place in the section as `distance`
    Compressor compressor_;
};

template <class Payload> bool write_block(BlockBuffer& buffer, const BlockKey& key, Payload payload) noexcept { return buffer.write(key, payload); }

} // namespace libprofile
